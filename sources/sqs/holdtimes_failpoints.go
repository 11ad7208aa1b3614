//go:build failpoints

package sqs

import (
	"fmt"
	"os"
	"time"
)

// hiding is for how long messages are hidden that are being redriven, and those
// that are looked at: in this build as UNWEDGE_HOLD says, because whoever takes
// over after a kill has to wait until it ends.
func hiding() (hold, look time.Duration) {
	text := os.Getenv("UNWEDGE_HOLD")
	if text == "" {
		return longHold, longLook
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 3*time.Second || d > longHold {
		panic(fmt.Sprintf("UNWEDGE_HOLD: %q is not a duration from 3s to %s", text, longHold))
	}
	return d, min(d, longLook)
}
