package review

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// died is a letter of orders that died of this.
func died(class, root, message, stack string) sources.DeadLetter {
	return sources.DeadLetter{
		Queue: "orders-dlt", Origin: sources.Origin{Queue: "orders"},
		Reason: sources.Reason{Class: class, RootClass: root, Message: message, Stack: stack},
	}
}

func TestLettersThatFailedTheSameWayAreOneCause(t *testing.T) {
	const listener = "org.springframework.kafka.listener.ListenerExecutionFailedException"
	for name, c := range map[string]struct {
		letters []sources.DeadLetter
		title   string
	}{
		"ids in the message": {[]sources.DeadLetter{
			died(listener, "com.acme.UnknownCurrency", "payment pay_000001: currency INRR is not known", ""),
			died(listener, "com.acme.UnknownCurrency", "payment pay_000777: currency INRR is not known", ""),
		}, "UnknownCurrency: currency INRR is not known"},
		"addresses and times": {[]sources.DeadLetter{
			died(listener, "java.net.SocketTimeoutException", "connect to 10.0.0.1:443 timed out after 3000 ms", ""),
			died(listener, "java.net.SocketTimeoutException", "connect to 10.0.0.22:8443 timed out after 3001 ms", ""),
			died(listener, "java.net.SocketTimeoutException", "connect to [fe80::1:2]:443 timed out after 1,500.25 ms", ""),
		}, "SocketTimeoutException: connect to … timed out after … ms"},
		"UUIDs, mail addresses, hashes": {[]sources.DeadLetter{
			died("E", "", "user ann@example.com has no wallet 4bf92f35-face-4da6-a3ce-929d0e0e4736 (Wallet@1a2b3c)", ""),
			died("E", "", "user bob.b@mail.example.org has no wallet deadbeef-dead-beef-cafe-facefaceface (Wallet@ff00aa99)", ""),
		}, "E: user … has no wallet … (Wallet…)"},
		"embedded JSON": {[]sources.DeadLetter{
			died("E", "", `cannot post {"id":"a","lines":[{"x":1}]} twice`, ""),
			died("E", "", `cannot post {"id":"bcd","note":{}} twice`, ""),
		}, "E: cannot post … twice"},
		"non-Latin text and digits": {[]sources.DeadLetter{
			died("E", "", "заказ №12345 не найден", ""), died("E", "", "заказ №99 не найден", ""), died("E", "", "заказ №٣٤ не найден", ""),
		}, "E: заказ №… не найден"},
		"a class that only the message names": {[]sources.DeadLetter{
			died("", "", "com.acme.UnknownCurrency: INRR", ""), died("com.acme.UnknownCurrency", "", "INRR", ""),
		}, "UnknownCurrency: INRR"},
		"a cause that Spring nests in the message": {[]sources.DeadLetter{
			died(listener, "", "Listener method 'void a.B.c()' threw exception; nested exception is com.acme.LateException: too late by 17 s", ""),
			died(listener, "com.acme.LateException", "Listener failed; too late by 3 s", ""),
		}, "LateException: too late by … s"},
		"details on later lines": {[]sources.DeadLetter{
			died("E", "", "Unrecognized token 'oops'\n at [Source: (byte[]) line: 1, column: 5]", ""),
			died("E", "", "Unrecognized token 'oops'\n at [Source: (byte[]) line: 7, column: 99]", ""),
		}, "E: Unrecognized token 'oops'"},
	} {
		t.Run(name, func(t *testing.T) {
			id, title, why := Fingerprint(c.letters[0])
			if title != c.title {
				t.Errorf("title %q, want %q", title, c.title)
			}
			if !strings.HasSuffix(why, ", from orders") {
				t.Errorf("why %q", why)
			}
			for _, l := range c.letters[1:] {
				if other, _, w := Fingerprint(l); other != id {
					t.Errorf("%+v is another cause: %q, and not %q", l.Reason, w, why)
				}
			}
		})
	}
}

func TestLettersThatFailedInAnotherWayAreNot(t *testing.T) {
	base := died("com.acme.Refused", "", "status 503 from bank", "")
	seen := map[string]string{}
	check := func(name string, l sources.DeadLetter) {
		t.Helper()
		id, _, _ := Fingerprint(l)
		if other, again := seen[id]; again {
			t.Errorf("%s is the same cause as %s", name, other)
		}
		seen[id] = name
	}
	check("base", base)
	check("another class", died("com.acme.Refund", "", "status 503 from bank", ""))
	check("another message", died("com.acme.Refused", "", "status 503 from card", ""))
	check("another code", died("com.acme.Refused", "", "status 404 from bank", ""))
	check("another database code", died("com.acme.Refused", "", "ORA-00942 table is not there", ""))
	check("and another one", died("com.acme.Refused", "", "ORA-00001 table is not there", ""))
	check("another column", died("com.acme.Refused", "", `column "amount" is not there`, ""))
	check("and that one", died("com.acme.Refused", "", `column "currency" is not there`, ""))
	check("no message", died("com.acme.Refused", "", "", ""))
	check("no class", died("", "", "status 503 from bank", ""))
	elsewhere := base
	elsewhere.Origin.Queue = "payments"
	check("another origin", elsewhere)
	check("another place", died("com.acme.Refused", "", "status 503 from bank", "com.acme.Refused: x\n\tat com.acme.Bank.call(Bank.java:5)\n"))
	check("and that place", died("com.acme.Refused", "", "status 503 from bank", "com.acme.Refused: x\n\tat com.acme.Card.call(Card.java:5)\n"))
}

func TestC82TheHopsOfOneRetryChainAreOneCause(t *testing.T) {
	a, b := died("E", "", "m", ""), died("E", "", "m", "")
	a.RedriveTo, a.Origin.Queue = "payment.events", "payment.events.retry-5s"
	b.RedriveTo, b.Origin.Queue = "payment.events", "payment.events.retry-10m"
	idA, _, _ := Fingerprint(a)
	if idB, _, why := Fingerprint(b); idA != idB || !strings.HasSuffix(why, "from payment.events") {
		t.Errorf("%s, %s: %s", idA, idB, why)
	}
}

func TestWhatTopFramesAre(t *testing.T) {
	for name, c := range map[string]struct{ stack, want string }{
		"Java, the cause's own frames": {`org.springframework.kafka.listener.ListenerExecutionFailedException: Listener failed
	at org.springframework.kafka.listener.Container.run(Container.java:2931)
	at com.acme.outer.Outer.run(Outer.java:9)
Caused by: com.acme.UnknownCurrency: INRR
	at java.base/java.util.Optional.orElseThrow(Optional.java:403)
	at com.acme.pay.CurrencyParser.parse(CurrencyParser.java:42)
	at com.acme.pay.PaymentListener$$EnhancerBySpringCGLIB$$1a2b3c4d.on(<generated>)
	at com.acme.pay.PaymentListener.lambda$on$0(PaymentListener.java:88)
	... 12 more
`, "com.acme.pay.CurrencyParser.parse|com.acme.pay.PaymentListener.on"},
		"only foreign frames": {"java.lang.NullPointerException\n\tat java.util.Objects.requireNonNull(Objects.java:233)\n", "java.util.Objects.requireNonNull"},
		".NET":                {"System.InvalidOperationException: x\n   at System.Linq.Enumerable.First()\n   at Ledger.Post(String id) in /src/Ledger.cs:line 12\n", "Ledger.Post"},
		"Node":                {"TypeError: x\n    at Object.<anonymous> (/app/i.js:1:1)\n    at PaymentService.charge (/app/pay.js:10:5)\n    at async Consumer.run (/app/c.js:3:1)\n", "PaymentService.charge|Consumer.run"},
		"Python":              {"Traceback (most recent call last):\n  File \"/app/worker.py\", line 10, in handle\n    pay()\n  File \"/app/pay.py\", line 3, in pay\n    raise ValueError('x')\nValueError: x\n", "pay.py pay|worker.py handle"},
		"Ruby":                {"app/jobs/pay.rb:12:in `charge'\nfrom app/jobs/run.rb:3:in `block in perform'\n", "pay.rb charge|run.rb perform"},
		"Go":                  {"goroutine 1 [running]:\nmain.(*Bank).charge(0xc000012345)\n\t/app/bank.go:12 +0x1d\n", "main.(*Bank).charge"},
		"no stack":            {"", ""},
		"no frames":           {"something went wrong\n", ""},
	} {
		if got := strings.Join(topFrames(c.stack, 2), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestANewBuildIsNoNewCause(t *testing.T) {
	stack := "com.acme.E: x\n\tat com.acme.A$$Lambda$%d/0x00007f%06x.get(Unknown Source)\n\tat com.acme.A.lambda$run$%d(A.java:%d)\n"
	a, _, _ := Fingerprint(died("com.acme.E", "", "x", fmt.Sprintf(stack, 14, 0xabcdef, 0, 10)))
	b, _, _ := Fingerprint(died("com.acme.E", "", "x", fmt.Sprintf(stack, 99, 0x123456, 3, 17)))
	if a != b {
		t.Error("lines and generated names are part of the fingerprint")
	}
}

func TestOnlyAStackNamesTheClass(t *testing.T) {
	_, title, why := Fingerprint(died("", "", "", "java.lang.IllegalStateException: ledger is closed\n\tat com.acme.Ledger.post(Ledger.java:5)\n"))
	if title != "IllegalStateException: ledger is closed" || !strings.Contains(why, "(Ledger.post)") {
		t.Errorf("%q, %q", title, why)
	}
}

func TestWithoutAReasonTheShapeOfTheBodyGroups(t *testing.T) {
	letter := func(queue, body string) sources.DeadLetter {
		return sources.DeadLetter{Queue: queue + "-dlq", Origin: sources.Origin{Queue: queue}, Body: []byte(body), Place: sources.Place{MessageID: "m"}}
	}
	same := []string{`{"type":"capture","id":"a1","amount":1,"card":{"last":"1"}}`, `{ "amount": 99, "id": "b2", "type": "capture", "card": {"last":"2"} }`}
	a, title, why := Fingerprint(letter("payments", same[0]))
	if title != "capture" || why != "No reason was recorded: same shape of body (type, id, amount, card), same type capture, from payments" {
		t.Errorf("%q, %q", title, why)
	}
	if b, _, _ := Fingerprint(letter("payments", same[1])); a != b {
		t.Error("order and values are part of the shape")
	}
	for name, l := range map[string]sources.DeadLetter{
		"another type":  letter("payments", `{"type":"refund","id":"a1","amount":1,"card":{"last":"1"}}`),
		"another kind":  letter("payments", `{"type":"capture","id":"a1","amount":"1","card":{"last":"1"}}`),
		"a new field":   letter("payments", `{"type":"capture","id":"a1","amount":1,"card":{"last":"1"},"x":1}`),
		"another queue": letter("refunds", same[0]),
		"no JSON":       letter("payments", `type=capture`),
	} {
		if b, _, _ := Fingerprint(l); a == b {
			t.Errorf("%s is the same cause", name)
		}
	}
	l := letter("payments", "")
	l.Body = nil
	if _, title, _ := Fingerprint(l); title != "No reason recorded: null body" {
		t.Errorf("%q", title)
	}
	l.Headers = []sources.Header{{Name: "ce_type", Value: []byte("payment.captured")}}
	if _, title, _ := Fingerprint(l); title != "payment.captured" {
		t.Errorf("%q", title)
	}
	l.Reason.Code = "EventAgeExceeded"
	if _, title, _ := Fingerprint(l); title != "EventAgeExceeded" {
		t.Errorf("%q", title)
	}
}

func TestMapsKeyedByIdsHaveOneShape(t *testing.T) {
	at := func(i int) string {
		id, _, _ := Fingerprint(sources.DeadLetter{Queue: "q", Body: fmt.Appendf(nil, `{"users":{"user%06d":{"n":1}}}`, i)})
		return id
	}
	if at(1) != at(999999) {
		t.Error("the keys of a map are part of the shape")
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "",
		"HTTP 503 after 3 tries":                 "HTTP 503 after … tries",
		"unexpected HTTP response code (502)":    "unexpected HTTP response code (502)",
		"acquirer returned 503 for pay_77":       "acquirer returned 503 for …",
		"order order-1234 not found":             "order order-… not found",
		"at 2026-09-14T08:26:05.010Z, row 12":    "at …, row …",
		"ids 1, 2, 3 and 4":                      "ids … and …",
		"utf8 is not sha256 nor S3":              "utf8 is not sha256 nor S3",
		"GET /v1/pay/123?sig=abc&x=2 failed":     "GET /v1/pay/… failed",
		"Expected { but found x":                 "Expected { but found x",
		"  many   spaces ":                       "many spaces",
		"balance is -12.50, below 0":             "balance is …, below …",
		"ActiveRecord::Base is down":             "ActiveRecord::Base is down",
		"fe80::1ff:fe23:4567:890a is not routed": "… is not routed",
		"key 0xDEADBEEF in shard 12":             "key … in shard …",
		"SQLSTATE[23505]: unique violation":      "SQLSTATE[23505]: unique violation",
	} {
		if got, _ := normalise(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

var causeID = regexp.MustCompile(`^c_[0-9a-f]{16}$`)

func TestACauseHasTheSameURLSafeIDForEver(t *testing.T) {
	id, _, _ := Fingerprint(died("com.acme.UnknownCurrency", "", "currency INRR is not known", ""))
	if !causeID.MatchString(id) || id != "c_4ea90f7a3f2432b2" {
		t.Errorf("%s: causes that are stored would lose their letters; raise fingerprintVersion if that is meant", id)
	}
}

// FuzzFingerprint: whatever a reason and a body hold, there is a cause with a
// title that can be shown.
func FuzzFingerprint(f *testing.F) {
	f.Add("a.B", "c.D", "m {1}", "x\n\tat a.B.c(D.java:1)\nCaused by: y", []byte(`{"a":1}`))
	f.Add("", "", "nested exception is ", "Traceback (most recent call last)", []byte(nil))
	f.Add("$", "::", "\xff{\x00", "Caused by: ", []byte("\x00\x01"))
	f.Fuzz(func(t *testing.T, class, root, message, stack string, body []byte) {
		l := died(class, root, message, stack)
		l.Body = body
		id, title, why := Fingerprint(l)
		if !causeID.MatchString(id) || title == "" || why == "" || strings.ContainsAny(title+why, "\n\x00\x1b") || len([]rune(title)) > 2*maxTitle {
			t.Fatalf("%q %q %q", id, title, why)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	l := died("org.springframework.kafka.listener.ListenerExecutionFailedException", "com.acme.UnknownCurrency",
		"Listener failed; payment pay_000001: currency INRR is not known",
		"a.B: x\n"+strings.Repeat("\tat com.acme.pay.CurrencyParser.parse(CurrencyParser.java:42)\n", 60))
	for b.Loop() {
		Fingerprint(l)
	}
}
