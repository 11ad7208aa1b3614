package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestC03NumbersKeepTheirDigits(t *testing.T) {
	body := []byte(`{"id":23958446825181076828,"max":9223372036854775807,"d":1.10,"e":1E400}`)
	d := Decode(body, 0)
	for _, digits := range []string{"23958446825181076828", "9223372036854775807", "1.10", "1E400"} {
		if !strings.Contains(d.Text, digits) || !strings.Contains(d.Raw, digits) {
			t.Errorf("%s is missing in %q, %q", digits, d.Text, d.Raw)
		}
	}
	if id, _ := LookupText(body, "/id"); id != "23958446825181076828" {
		t.Errorf("the id is %s", id)
	}
	for _, f := range Fields(body) {
		if f.Path == "e" && f.Value != "1E400" {
			t.Errorf("%+v", f)
		}
	}
}

func TestC06NullEmptyAndTheWordNullAreThree(t *testing.T) {
	for _, c := range []struct {
		b            []byte
		format, note string
	}{
		{nil, FormatNull, "null value"},
		{[]byte{}, FormatEmpty, "empty (0 bytes)"},
		{[]byte("null"), FormatText, ""},
	} {
		if d := Decode(c.b, 0); d.Format != c.format || d.Note != c.note || d.Size != len(c.b) {
			t.Errorf("%q: %+v", c.b, d)
		}
	}
}

func TestC09BytesThatAreNotUTF8AreMarked(t *testing.T) {
	body := append(append([]byte(`{"n":"`), 0xC3, 0x28, 0xFF, 0x00, 0x1B), `"}`...)
	d := Decode(body, 0)
	if d.Format != FormatText || d.Note != "not UTF-8, 13 bytes" || d.Text != `{"n":"\xC3(\xFF`+"\u2400\u241b"+`"}` {
		t.Errorf("%+v", d)
	}
	lone := []byte(`{"n":"\ud800 x \ud83d\ude00"}`)
	if d := Decode(lone, 0); d.Format != FormatJSON || !strings.Contains(d.Text, `\ud800`) {
		t.Errorf("%+v", d)
	}
	if s, _ := LookupText(lone, "/n"); s != `\ud800 x 😀` {
		t.Errorf("%q", s)
	}
	raw := []byte("{\"n\":\"\xed\xa0\x80\"}")
	if d := Decode(raw, 0); d.Format != FormatJSON || !strings.Contains(d.Text, `\xED\xA0\x80`) || !strings.HasPrefix(d.Note, "not UTF-8") {
		t.Errorf("%+v", d)
	}
}

func TestC11AnUndecodableRecordIsShownNevertheless(t *testing.T) {
	if d := Decode([]byte("oops"), 0); d.Format != FormatText || d.Text != "oops" {
		t.Errorf("%+v", d)
	}
	if d := Decode([]byte{0, 0, 0, 0, 99, 2, 'a'}, 0); d.Format != FormatRegistry || d.Note != "schema id 99, not decoded" {
		t.Errorf("%+v", d)
	}
}

func TestC12ACutPreviewSaysThatNothingIsLost(t *testing.T) {
	body := []byte(`{"data":"` + strings.Repeat("x", 10485760-11) + `"}`)
	d := Decode(body, 16<<10)
	if !d.Cut || !strings.HasPrefix(d.Note, "first 16 kB of 10,485,760 bytes shown; the stored message is complete") {
		t.Errorf("note %q", d.Note)
	}
	if d.Format != FormatJSON || len(d.Text) > 20<<10 || d.Size != 10485760 {
		t.Errorf("%s, %d characters of %d", d.Format, len(d.Text), d.Size)
	}
	if d := Decode(body[:15000], 16<<10); d.Cut || d.Note != "" {
		t.Errorf("%.80q %s", d.Text, d.Note)
	}
}

func TestC13AKeyThatBeginsWithZeroIsANumber(t *testing.T) {
	key, _ := hex.DecodeString("0000000000062b2d")
	if d := Decode(key, 0); d.Format != FormatInt64 || d.Text != "404269 (int64)" {
		t.Errorf("%+v", d)
	}
	stamp, _ := hex.DecodeString("00000185718c56b8")
	if d := Decode(stamp, 0); d.Text != "1672647300792 (int64)" || d.Note != "as a time 2023-01-02T08:15:00.792Z" {
		t.Errorf("%+v", d)
	}
	if d := Decode([]byte{0, 0, 0, 3}, 0); d.Format != FormatInt32 || d.Text != "3 (int32)" {
		t.Errorf("%+v", d)
	}
	if d := Decode([]byte("12345678"), 0); d.Format != FormatText || d.Text != "12345678" {
		t.Errorf("%+v", d)
	}
	value := []byte{0, 0, 0, 0, 5, 0x0a, 'h', 'e', 'l', 'l', 'o'}
	if d := Decode(value, 0); d.Format != FormatRegistry || d.Note != "schema id 5, not decoded" {
		t.Errorf("%+v", d)
	}
}

func TestC15AMessageAboutErrorsIsNoError(t *testing.T) {
	for body, format := range map[string]string{
		`{"error":"card declined","error_code":50002}`: FormatJSON,
		`<Error>..</Error>`:                            FormatXML,
		`error: none`:                                  FormatText,
	} {
		if d := Decode([]byte(body), 0); d.Format != format || d.Note != "" {
			t.Errorf("%s: %+v", body, d)
		}
	}
}

func TestC64APointerSaysWhereThePayloadLies(t *testing.T) {
	body := []byte(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`)
	if d := Decode(body, 0); d.Format != FormatPointer || d.Note != "payload in s3://b/k; the object was not looked at" || d.Raw != string(body) {
		t.Errorf("%+v", d)
	}
	if _, _, ok := S3Pointer([]byte(`{"s3BucketName":"b","s3Key":"k"}`)); ok {
		t.Error("an object with the same names is no pointer")
	}
}

func TestC75Base64InsideAJSONString(t *testing.T) {
	once := Decode([]byte(`"eyJpZCI6MX0="`), 0)
	if once.Depth != 1 || once.Note != "looks like base64 inside a JSON string" || once.Inner.Raw != `{"id":1}` {
		t.Errorf("%+v", once)
	}
	twice := Decode([]byte(`"ImV5SnBaQ0k2TVgwPSI="`), 0)
	if twice.Depth != 2 || twice.Inner.Inner.Raw != `{"id":1}` || !strings.HasSuffix(twice.Note, "2 deep") {
		t.Errorf("%+v", twice)
	}
	for _, word := range []string{`"deadbeef"`, `"customer"`, `"paymentrequest00"`, "abcdefgh"} {
		if d := Decode([]byte(word), 0); d.Inner != nil {
			t.Errorf("%s is taken for base64 of %q", word, d.Text)
		}
	}
}

func TestTheMessageOfAnSNSEnvelopeComesFirst(t *testing.T) {
	body := []byte(`{"Type":"Notification","TopicArn":"arn:aws:sns:eu-north-1:000000000000:paid","Message":"{\"id\":9007199254740993}"}`)
	d := Decode(body, 0)
	if d.Format != FormatSNS || d.Inner.Format != FormatJSON || d.Text != "{\n  \"id\": 9007199254740993\n}" || d.Raw != string(body) {
		t.Errorf("%+v", d)
	}
	if string(Open(body)) != `{"id":9007199254740993}` {
		t.Errorf("%s", Open(body))
	}
}

func TestWhatCannotBeDecodedIsNamed(t *testing.T) {
	for format, body := range map[string][]byte{
		FormatJava: {0xac, 0xed, 0, 5, 't', 0, 1, 'x'}, FormatGzip: {0x1f, 0x8b, 8, 0, 1}, FormatAvroFile: []byte("Obj\x01..."),
		FormatPickle: {0x80, 4, 0x95, '.'}, FormatBinary: {0xde, 0xad, 0xbe, 0xef, 0xff}, FormatUTF16: {0xff, 0xfe, 'h', 0, 'i', 0},
		FormatJSONLines: []byte("{\"a\":1}\n{\"a\":2}\n"), FormatCloudEvent: []byte(`{"specversion":"1.0","type":"paid"}`),
		FormatBase64: []byte(base64.StdEncoding.EncodeToString([]byte(`{"task":"post"}`))),
	} {
		if d := Decode(body, 0); d.Format != format {
			t.Errorf("%q is %+v, want %s", body, d, format)
		}
	}
}

func TestNothingHidesInText(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb": "a␛[31mb", "a\x00b\x7f": "a␀b␡", "one\r\ntwo\ttab": "one\ntwo\ttab", "lone\rcr": "lone␍cr",
		"rtl\u202eevil": `rtl\u202eevil`, "zero\u200bwidth": `zero\u200bwidth`, "ünïcode 漢字 😀": "ünïcode 漢字 😀",
		"c1\u0085": `c1\u0085`, "bad\xff": `bad\xFF`,
	} {
		if got := Visible([]byte(in)); got != want {
			t.Errorf("%q reads %q, want %q", in, got, want)
		}
	}
}

func TestHexHasPlaceBytesAndText(t *testing.T) {
	want := "0000 7b 22 70 61 79 6d 65 6e 74 5f 69 64 22 3a 22 70 {\"payment_id\":\"p\n0010 61 79 00                                        ay.\n"
	if got := Hex([]byte("{\"payment_id\":\"pay\x00"), 100); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Hex(make([]byte, 2048), 1024); strings.Count(got, "\n") != 65 || !strings.Contains(got, "first 1 kB of 2,048 bytes shown") {
		t.Errorf("%s", got)
	}
}

func TestLookupFollowsAPointer(t *testing.T) {
	body := []byte(`{"a":{"b/c":[1,{"d~e":"x"},null]},"a2":1,"dup":1,"dup":2,"":3}`)
	for pointer, want := range map[string]string{
		"/a/b~1c/1/d~0e": "x", "/a/b~1c/0": "1", "/dup": "2", "/": "3", "/a/b~1c/-1/x": "", "/a/b~1c/2": "", "/a/b~1c/9": "", "/nope": "", "/a2/x": "",
	} {
		if got, ok := LookupText(body, pointer); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", pointer, got, ok)
		}
	}
	if _, ok := LookupText([]byte(`{"a":`), "/a"); ok {
		t.Error("half a document has no values")
	}
}

func TestProtobufIsReadToItsEndOrNotAtAll(t *testing.T) {
	if f, err := ProtobufFields([]byte{8, 3, 18, 1, 'x'}); err != nil || len(f) != 2 || f[0].Varint != 3 || string(f[1].Bytes) != "x" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, b := range [][]byte{{8}, {18, 5, 'x'}, {0}, {8, 3, 0xff}, {11}, {13, 1, 2}} {
		if _, err := ProtobufFields(b); err == nil {
			t.Errorf("% x was taken for protobuf", b)
		}
	}
}

// FuzzDecode: whatever comes, there is no panic, and what is shown is text
// without control characters.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"a":[1,{"b":"\ud800"}],"c":1e400}`, `"eyJpZCI6MX0="`, "\x00\x00\x00\x00\x05x", "\xac\xed\x00\x05", "<a>",
		`["x.S3Pointer",{"s3BucketName":"b","s3Key":"k"}]`, `{"Type":"Notification","TopicArn":"a","Message":"{}"}`, "\x08\x03", `{"a":"\`, `[[[[`,
	} {
		f.Add([]byte(seed), 16)
	}
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		d := Decode(b, limit)
		for _, s := range []string{d.Text, d.Raw, d.Note} {
			if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }) {
				t.Fatalf("%q shows as %q", b, s)
			}
		}
		if d.Format == "" || d.Size != len(b) {
			t.Fatalf("%+v", d)
		}
		Hex(b, limit)
		Fields(b)
		for _, p := range []string{"", "/", "/a/0", "/-1", "x"} {
			doc, _ := ParseJSON(b)
			if raw, ok := doc.Lookup(p); ok && !bytes.Contains(b, raw) {
				t.Fatalf("%q is not of %q", raw, b)
			}
		}
		if indented := indent(b); limit > 0 && len(indented) > (maxIndent*2+4)*len(b)+4 {
			t.Fatalf("%d bytes became %d", len(b), len(indented))
		}
	})
}
