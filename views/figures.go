package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostCells is how many cells a strip shows: more say less.
const mostCells = 96

// shownCells is the cells of a strip, or as many as there is room for: those
// in trouble first, in their own order.
func shownCells(cells []Cell) []Cell {
	if len(cells) <= mostCells {
		return cells
	}
	room := mostCells
	for _, c := range cells {
		if c.Verdict != "ok" {
			room--
		}
	}
	var shown []Cell
	for _, c := range cells {
		if c.Verdict == "ok" {
			if room <= 0 {
				continue
			}
			room--
		}
		if len(shown) == mostCells {
			break
		}
		shown = append(shown, c)
	}
	return shown
}

// stripSays is a strip in words: "6 partitions: partition 3 head-of-line
// stall; 5 ok".
func stripSays(cells []Cell) string {
	var order []string
	by := map[string][]string{}
	for _, c := range cells {
		if by[c.Verdict] == nil {
			order = append(order, c.Verdict)
		}
		by[c.Verdict] = append(by[c.Verdict], Visible(c.Name))
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(by[a]) - len(by[b]) })
	said := make([]string, 0, len(order))
	for _, v := range order {
		word := strings.ToLower(markOf(v).word)
		if v == "ok" || len(by[v]) == len(cells) {
			said = append(said, number(len(by[v]))+" "+word)
			continue
		}
		said = append(said, noun(len(by[v]), "partition")+" "+few(by[v], 12)+" "+word)
	}
	return Plural(len(cells), "partition") + ": " + strings.Join(said, "; ")
}

// The box that a spark is drawn in, with room for the width of its line.
const (
	sparkWidth = 104
	sparkTop   = 2.5
	sparkFloor = 22.5
)

// sparkLine is the points of a spark, one text for each run of readings: where
// nothing was read the line has a hole.
func sparkLine(values []int64) []string {
	most := slices.Max(append([]int64{0}, values...))
	if len(values) < 2 {
		return nil
	}
	var runs []string
	var run []string
	for i, v := range values {
		if v < 0 {
			runs, run = endRun(runs, run), nil
			continue
		}
		y := sparkFloor
		if most > 0 {
			y -= (sparkFloor - sparkTop) * float64(v) / float64(most)
		}
		x := float64(i) * sparkWidth / float64(len(values)-1)
		run = append(run, coordinate(x)+","+coordinate(y))
	}
	return endRun(runs, run)
}

func endRun(runs, run []string) []string {
	if len(run) == 0 {
		return runs
	}
	if len(run) == 1 { // a line of one point shows nothing
		run = append(run, run[0])
	}
	return append(runs, strings.Join(run, " "))
}

func coordinate(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// sparkSays is a spark in words.
func sparkSays(values []int64) string {
	known := slices.DeleteFunc(slices.Clone(values), func(v int64) bool { return v < 0 })
	if len(known) == 0 {
		return "Lag not known"
	}
	first, last := known[0], known[len(known)-1]
	least, most := slices.Min(known), slices.Max(known)
	said := fmt.Sprintf("Lag from %s to %s", commas(first), commas(last))
	switch {
	case most-least <= max(3, most/10):
		said = "Lag steady at about " + commas(last)
	case last == most:
		said += ", rising"
	case first == most:
		said += ", falling"
	default:
		said += ", at most " + commas(most)
	}
	if len(known) < len(values) {
		said += "; not known at times"
	}
	return said
}

// bar is a bar of a trend.
type bar struct{ x, y, height string }

// trendBars is arrivals in four weeks as bars; no arrivals are a thin line.
func trendBars(weeks [4]int) (bars [4]bar) {
	most := max(1, slices.Max(weeks[:]))
	for i, n := range weeks {
		height := max(1.5, 24*float64(n)/float64(most))
		bars[i] = bar{strconv.Itoa(i * 16), coordinate(26 - height), coordinate(height)}
	}
	return bars
}

func trendSays(weeks [4]int) string {
	return fmt.Sprintf("Per week, oldest first: %d, %d, %d, %d", weeks[0], weeks[1], weeks[2], weeks[3])
}

// dayBar is a bar of the days since the review.
type dayBar struct {
	x, y, height string // of the bar
	middle, top  string // of its texts
	count        string
	DayCount
}

// The boxes that the bars of days are drawn in.
const (
	dayWidth = 46
	dayMost  = 34 // height of the highest bar
	dayFloor = 48
)

func dayBars(days []DayCount) []dayBar {
	most := 1
	for _, d := range days {
		most = max(most, d.Count)
	}
	bars := make([]dayBar, len(days))
	for i, d := range days {
		height := max(1.5, dayMost*float64(d.Count)/float64(most))
		bars[i] = dayBar{
			x: strconv.Itoa(i * dayWidth), y: coordinate(dayFloor - height), height: coordinate(height),
			middle: strconv.Itoa(i*dayWidth + 18), top: coordinate(dayFloor - height - 5),
			count: number(d.Count), DayCount: d,
		}
	}
	return bars
}

func daysBox(days []DayCount) string { return fmt.Sprintf("0 0 %d 64", max(1, len(days))*dayWidth) }

// daysSay is the days in words.
func (f Frame) daysSay(days []DayCount) string {
	said := make([]string, len(days))
	for i, d := range days {
		said[i] = d.Day.In(f.zone()).Format("Mon ") + number(d.Count)
	}
	return strings.Join(said, ", ")
}

// share is a part of a whole as the width of a bar that is 100 wide.
func share(part, whole int) string {
	if whole <= 0 || part <= 0 {
		return "0"
	}
	return coordinate(min(100, 100*float64(part)/float64(whole)))
}

// piece is one piece of a redrive's bar.
type piece struct{ state, x, width string }

// ledger is the states of a redrive's letters in the order of its legend, all
// of them but those that were not sent.
func (c Counts) ledger() []stateCount {
	return []stateCount{
		{"consumed", c.Consumed},
		{"confirmed", c.Confirmed},
		{"sent", c.Sent},
		{"sending", c.Sending},
		{"returned", c.Returned},
		{"unknown", c.Unknown},
		{"failed", c.Failed},
		{"cancelled", c.Cancelled},
		{"planned", c.Planned},
	}
}

// legend is the states to show: those that every redrive has, and the others
// while letters are in them.
func (c Counts) legend() []stateCount {
	return slices.DeleteFunc(c.ledger(), func(s stateCount) bool {
		return s.count == 0 && slices.Contains([]string{"sent", "sending", "cancelled"}, s.state)
	})
}

type stateCount struct {
	state string
	count int
}

func (c Counts) pieces(total int) []piece {
	var pieces []piece
	gap := float64(total) / 400
	x := 0.0
	for _, s := range c.ledger() {
		if s.count > 0 && s.state != "planned" && s.state != "cancelled" {
			width := float64(s.count)
			if x+width < float64(total) { // the last one ends with the bar
				width = max(width-gap, gap)
			}
			pieces = append(pieces, piece{s.state, coordinate2(x), coordinate2(width)})
		}
		x += float64(s.count)
	}
	return pieces
}

func coordinate2(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// says is the counts of a redrive in words.
func (c Counts) says(total int) string {
	var said []string
	for _, s := range c.ledger() {
		if s.count > 0 {
			said = append(said, number(s.count)+" "+strings.ToLower(markOf(s.state).word))
		}
	}
	return "Of " + number(total) + ": " + strings.Join(said, ", ")
}

// out is how many letters left us, as far as we know.
func (c Counts) out() int { return c.Sent + c.Confirmed + c.Consumed + c.Returned }
