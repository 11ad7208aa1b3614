package alerts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// count writes a number the way people read it: 118,204.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// several writes "1 record" and "2,000 records".
func several(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// about writes a duration in its two largest units: "11 min", "1 h 5 min".
func about(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 10*time.Minute && d%time.Minute != 0:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// clock writes a moment of the day; pages show it in the reader's zone.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// rate writes records per second, with a digit more where they are few.
func rate(perSecond float64) string {
	if perSecond >= 10 {
		return count(int64(perSecond+0.5)) + "/s"
	}
	if perSecond >= 0.1 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return strconv.FormatFloat(perSecond*60, 'f', 1, 64) + "/min"
}

// list writes names as a list that ends: at most twenty, and how many more.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// partitions names lines: "partitions 1 and 4 of orders, partition 0 of refunds".
func partitions(lines []sources.Partition) string {
	var topics []string
	numbers := map[string][]string{}
	for _, l := range lines {
		if numbers[l.Topic] == nil {
			topics = append(topics, l.Topic)
		}
		numbers[l.Topic] = append(numbers[l.Topic], strconv.Itoa(int(l.Number)))
	}
	var out []string
	for _, topic := range topics {
		noun := "partition"
		if len(numbers[topic]) > 1 {
			noun = "partitions"
		}
		out = append(out, noun+" "+list(numbers[topic])+" of "+topic)
	}
	return list(out)
}

// capital makes a sentence of it.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
