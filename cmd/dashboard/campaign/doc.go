// Package campaign shows that redrives can be trusted: it kills the real
// program, and its brokers, while letters are redriven, again and again, and
// then reads the brokers with plain clients to see what became of each letter.
// It never asks our store what is true; what the program says of itself, it
// says over HTTP, and that is compared with the brokers.
//
// The program is built with the tag failpoints, so that it can be killed at
// every durable step (internal/failpoint), and is otherwise the one that is
// shipped.
//
//	make test                 has TestCampaignShort: a few kills at each step
//	make campaign-redrive     the whole of it, for half an hour or more
//	make campaign-mutations   breaks guard rails on purpose; each must be noticed
//
// What was found stands in docs/campaign-redrive.md.
package campaign
