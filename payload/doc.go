// Package payload turns bytes into what a person can read: decoders, previews,
// and what sets one record apart from others. It never fails: what it cannot
// decode it shows as it is, and says so. It never changes a digit: numbers stay
// the text that they came as.
package payload
