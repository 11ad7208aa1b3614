package views

import "strings"

// The pages of an edit.

func editLetterPage() EditLetterPage {
	return EditLetterPage{
		Frame: frame(ReviewSection, "Edit Letter pay_7Q2M4X9K", ist(14, 9, 12, 0)), ID: "l-0", Name: "pay_7Q2M4X9K", HeadersAre: "headers",
		Value: EditField{Name: "value", Box: "\n{\n  \"currency\": \"INRR\",\n  \"note\": \"</textarea><script>\"\n}", As: "text", Choices: []string{"text", "base64", "empty", "null"}, Size: 3402},
		Key:   &EditField{Name: "key", Box: "pay_7Q2M4X9K", As: "text", Choices: []string{"text", "base64", "empty", "null"}, Size: 12},
		Headers: []EditHeader{
			{Number: 0, Name: "x-tag", Box: "a", As: "text"},
			{Number: 1, Name: "x-tag", Box: "AAEC", As: "base64"},
			{Number: 2, Name: "", As: "null"},
			{Number: 3, Name: "\xff", Fixed: true, As: "empty"},
			{Number: 4, Name: "kafka_dlt-exception-fqcn", Box: "com.acme.InvalidCurrencyException", As: "text", ByRule: true, Left: true},
		},
		New: []EditHeader{{Number: 0, As: "text"}, {Number: 1, As: "text"}},
	}
}

// editRefused is the form of a message of SQS that could not be planned so.
func editRefused() EditLetterPage {
	p := editLetterPage()
	p.Key, p.HeadersAre, p.Problem = nil, "message attributes", "The value: its box is empty."
	p.Value = EditField{Name: "value", As: "text", Choices: []string{"text", "base64", "decoded"}, Size: 22, Layers: 2}
	p.Headers = []EditHeader{{Number: 0, Name: "tenant", Type: "Number.int", Box: "7", As: "text"}}
	return p
}

// editHuge is the form of a letter with more than fits into one.
func editHuge() EditLetterPage {
	p := editLetterPage()
	p.Value = EditField{Name: "value", As: "kept", TooLarge: true, Size: 10_485_760}
	p.Headers, p.ManyHeaders, p.Drop = nil, 2000, []string{"trace-id", ""}
	return p
}

func editManyPage() EditManyPage {
	return EditManyPage{
		Frame: frame(ReviewSection, "Edit InvalidCurrencyException", ist(14, 9, 12, 0)), Cause: "c-61", CauseTitle: "InvalidCurrencyException", Total: 37, Letters: []string{"l-1", "l-2"},
		Patch: []PatchRow{{Number: 0, Op: "replace", Path: "/currency", Value: `"INR"`}, {Number: 1, Op: "move", Path: "/payer/vpa", From: "/vpa"}, {Number: 2, Op: "replace"}},
		New:   []EditHeader{{Number: 0, Name: "x-fixed-by", Box: "asha", As: "text"}, {Number: 1, As: "text"}}, Drop: []string{"x-retry-count", ""},
		Example: body(""),
	}
}

func diffView() *DiffView {
	bytes := func(s string) DiffSide { return DiffSide{true, text(s)} }
	return &DiffView{
		Total: 240,
		Letters: []LetterDiff{
			{ID: "l-0", Name: "pay_0", More: true, Changes: []DiffRow{
				{What: "value", Path: "/currency", Old: bytes(`"INRR"`), New: bytes(`"INR"`)},
				{What: "header", Path: "x-fixed-by", New: bytes("asha")},
				{What: "key", Old: bytes("k"), New: DiffSide{true, Bytes{Null: true}}},
			}},
			{ID: "l-1", Name: "pay_1", Because: "replace /currency: the value has no /currency"},
			{ID: "l-2", Name: "pay_2"},
			{ID: "l-3", Name: "pay_3", Changes: []DiffRow{{What: "value", At: 940, Old: bytes(strings.Repeat("x", 60) + "old"), New: bytes(strings.Repeat("x", 60) + "new")}}},
		},
	}
}

func planEdited() PlanPage {
	p := planPage()
	p.Edit = diffView()
	return p
}
