package views

// TakenPage is a selection of letters of which some cannot be had.
type TakenPage struct {
	Frame
	Total int // letters that were selected
	Taken int // of these, cannot be had
	Holds []HoldRow
	Free  []string // ids of the others
}

// HoldRow is what keeps some of the letters.
type HoldRow struct {
	Text    string // "42 are in redrive rd_1 by asha"
	Redrive string // id; "" when no redrive has them
}

func (p TakenPage) heading() string {
	if p.Taken == p.Total {
		return oneOf(p.Total == 1, "This letter is taken", "All "+number(p.Total)+" letters are taken")
	}
	return number(p.Taken) + " of your " + Plural(p.Total, "letter") + oneOf(p.Taken == 1, " is taken", " are taken")
}
