package convention

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

func TestAMappingReadsWhatOnlyItsOwnerKnows(t *testing.T) {
	m := Mapping{
		Queue:  "legacy.*",
		Origin: OriginMapping{Queue: "header:src-topic", Partition: "header:src-part", Offset: "json:/meta/offset", Group: "text:billing"},
		Reason: ReasonMapping{Class: "json:/meta/error/0/class", Message: "header:err", Stack: "key"}, Attempts: "header:tries +1", FailedAt: "header:when",
	}
	if errs := m.Validate(); len(errs) > 0 {
		t.Fatal(errs)
	}
	l := sources.DeadLetter{
		Queue: "legacy.orders.dead", Key: []byte("a key"), Body: []byte(`{"meta":{"offset":9007199254740993,"error":[{"class":"a.B"}]}}`),
		Headers: headers("src-topic", "orders", "src-part", "\x00\x00\x00\x05", "err", "boom", "tries", "2", "when", "2026-09-14T08:15:42.5Z", "x-tag", "t"),
	}
	New([]Mapping{m}, nil).Recognise(&l)
	want := `orders 5 9007199254740993 billing a.B boom "a key" 3 mapping orders`
	got := fmt.Sprintf("%s %d %d %s %s %s %q %d %s %s", l.Origin.Queue, *l.Origin.Partition, *l.Origin.Offset, l.Origin.Group,
		l.Reason.Class, l.Reason.Message, l.Reason.Stack, *l.Attempts, l.Convention, l.RedriveTo)
	if got != want || l.FailedAt.UnixMilli() != 1789373742500 {
		t.Errorf("got %s at %s, want %s", got, l.FailedAt, want)
	}
	if fmt.Sprint(l.ErrorHeaders) != "[src-topic src-part err tries when]" {
		t.Errorf("drops %q", l.ErrorHeaders)
	}
}

func TestAMappingWinsOverAConvention(t *testing.T) {
	m := Mapping{Queue: "*", Origin: OriginMapping{Queue: "header:real-topic"}, Reason: ReasonMapping{Message: "header:why"}}
	l := sources.DeadLetter{Queue: "orders-dlt", Headers: headers("kafka_dlt-original-topic", "router", "kafka_dlt-original-partition", "\x00\x00\x00\x01",
		"kafka_dlt-exception-fqcn", "a.B", "kafka_dlt-exception-message", "wrapper", "real-topic", "orders", "why", "boom")}
	New([]Mapping{m}, nil).Recognise(&l)
	if l.Origin.Queue != "orders" || l.Origin.Partition != nil || l.Reason.Class != "a.B" || l.Reason.Message != "boom" || l.Convention != Mapped || l.RedriveTo != "orders" {
		t.Errorf("%+v %+v %s back to %s", l.Origin, l.Reason, l.Convention, l.RedriveTo)
	}
	other := sources.DeadLetter{Queue: "orders-dlt", Headers: headers("kafka_dlt-original-topic", "router", "kafka_dlt-exception-fqcn", "a.B")}
	New([]Mapping{m}, nil).Recognise(&other)
	if other.Convention != "spring-kafka-dlpr" || other.Origin.Queue != "router" {
		t.Errorf("a mapping that finds nothing changes nothing: %+v by %s", other.Origin, other.Convention)
	}
}

func TestTheFirstMappingThatMatchesIsUsed(t *testing.T) {
	r := New([]Mapping{
		{Queue: "a.*", Origin: OriginMapping{Queue: "text:first"}}, {Queue: "*", Origin: OriginMapping{Queue: "second"}},
	}, nil)
	for queue, want := range map[string]string{"a.dead": "first", "b.dead": "second"} {
		l := sources.DeadLetter{Queue: queue}
		r.Recognise(&l)
		if l.Origin.Queue != want || l.RedriveTo != want {
			t.Errorf("%s: %+v", queue, l.Origin)
		}
	}
}

func TestMistakesInMappingsAreToldWithTheirPath(t *testing.T) {
	ms := Mappings{
		{Queue: "ok", Origin: OriginMapping{Queue: "header:x"}},
		{Origin: OriginMapping{Queue: "headr:x", Partition: "three", Offset: "json:meta"}, Reason: ReasonMapping{Message: "header:"}},
		{Queue: "^orders.*$"},
	}
	var got []string
	for _, err := range ms.Validate() {
		got = append(got, err.Error())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"mappings[1].queue: ", `mappings[1].origin.queue: "headr:x" begins with none of`, `mappings[1].origin.partition: "three" is no number`,
		`mappings[1].origin.offset: "json:meta": a JSON pointer begins with a slash: json:/meta`, "mappings[1].reason.message: ",
		"mappings[2].queue: ", "mappings[2].origin: the mapping says nothing",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if strings.Contains(all, "mappings[0]") || len(got) != 7 {
		t.Errorf("%d mistakes:\n%s", len(got), all)
	}
}
