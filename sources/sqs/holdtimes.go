//go:build !failpoints

package sqs

import "time"

// hiding is for how long messages are hidden that are being redriven, and those
// that are looked at.
func hiding() (hold, look time.Duration) { return longHold, longLook }
