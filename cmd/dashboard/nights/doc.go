// Package nights shows that the pager is right through nights that go wrong, and
// silent through those that do not: the campaign, the simulation and the soak.
package nights
