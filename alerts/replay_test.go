package alerts

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

const traceHeadLine = `{"trace":"x","title":"y","group":"payment-1","poll_seconds":30,"expect":[{"anything":1}]}` + "\n"

func TestReplaySaysOneLineAPartitionAndReading(t *testing.T) {
	in := traceHeadLine + `{"t":0,"state":"Stable","members":[{"id":"m1","assigned":[{"topic":"A","partition":0}]}],"partitions":[{"topic":"A","partition":0,"committed":0,"start":0,"end":7,"stable_end":7}]}
{"t":120.5,"state":"Stable","members":[{"id":"m1","assigned":[{"topic":"A","partition":0}]}],"partitions":[{"topic":"A","partition":0,"committed":0,"start":0,"end":8,"stable_end":8,"head":"record","metadata":"x"}]}
`
	var out bytes.Buffer
	if err := Replay(strings.NewReader(in), Rules{List: []Rule{{Group: "payment-*", StallAfter: 2 * time.Minute}}}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	if want := `{"trace":"x","t":0,"topic":"A","partition":0,"verdict":"ok","scope":null,"page":false,"since":0,"reason":"`; !strings.HasPrefix(lines[0], want) {
		t.Errorf("said %s", lines[0])
	}
	if want := `{"trace":"x","t":120.5,"topic":"A","partition":0,"verdict":"head_of_line_stall","scope":"partition","page":true,"since":0,"reason":"`; !strings.HasPrefix(lines[1], want) {
		t.Errorf("said %s", lines[1])
	}
}

func TestReplayOfWhatCouldNotBeRead(t *testing.T) {
	in := traceHeadLine + `{"t":0,"state":"Stable","members":[],"partitions":[{"topic":"A","partition":0,"committed":null,"committed_error":"x","start":0,"end":7,"stable_end":7},{"topic":"A","partition":1,"committed":5,"error":"y"},{"topic":"A","partition":2,"committed":5}]}
{"t":30,"group_error":"NOT_COORDINATOR","partitions":[]}
`
	all := replayed(t, []byte(in), Rules{})
	if len(all) != 6 {
		t.Fatalf("%+v", all)
	}
	for _, one := range all {
		if one.Verdict != "unknown" || one.Page {
			t.Errorf("%+v", one)
		}
	}
}

func TestReplayNamesTheLineThatIsWrong(t *testing.T) {
	reading := `{"t":10,"state":"Stable","members":[],"partitions":[]}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "empty"},
		{"no head", reading, "line 1"},
		{"not JSON", traceHeadLine + reading + "{oops\n", "line 3"},
		{"no object", traceHeadLine + "[]\n", "line 2"},
		{"no time", traceHeadLine + `{"state":"Stable"}` + "\n", "line 2"},
		{"back in time", traceHeadLine + reading + strings.Replace(reading, "10", "9", 1), "line 3"},
		{"an offset that is none", traceHeadLine + `{"t":1,"partitions":[{"topic":"A","partition":0,"committed":"x"}]}`, "line 2"},
		{"a time that is none", traceHeadLine + `{"t":1e300,"partitions":[]}`, "line 2"},
	} {
		err := Replay(strings.NewReader(c.in), Rules{}, &bytes.Buffer{})
		if !errors.Is(err, ErrTrace) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(traceHeadLine + `{"t":0,"state":"Stable","members":[{"id":"m1"}],"partitions":[{"topic":"A","partition":0,"committed":9,"start":10,"end":7,"stable_end":8}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = Replay(bytes.NewReader(in), Rules{}, &out)
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("said %q", line)
			}
		}
	})
}
