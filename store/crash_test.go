package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// errCrash is what the program does not live to see.
var errCrash = errors.New("the program dies here")

// dying is a journal that ends the program before or after one of its steps.
type dying struct {
	*Store
	step string
	die  func()
}

func (d dying) at(step string, do func() error) error {
	if d.step == "before "+step {
		d.die()
		return errCrash
	}
	err := do()
	if d.step == "after "+step {
		d.die()
		return errCrash
	}
	return err
}

func (d dying) BeginShipments(ctx context.Context, redrive, source string, s []sources.Shipment, refused map[string]error) (n []int64, err error) {
	err = d.at("begin", func() error {
		n, err = d.Store.BeginShipments(ctx, redrive, source, s, refused)
		return err
	})
	return n, err
}

func (d dying) RecordReceipts(ctx context.Context, redrive string, r []review.Result) error {
	return d.at("receipts", func() error { return d.Store.RecordReceipts(ctx, redrive, r) })
}

func (d dying) RecordSettled(ctx context.Context, redrive string, r []review.Result) error {
	return d.at("settled", func() error { return d.Store.RecordSettled(ctx, redrive, r) })
}

func (d dying) FinishRedrive(ctx context.Context, redrive string) (ended bool, err error) {
	err = d.at("finish", func() error {
		ended, err = d.Store.FinishRedrive(ctx, redrive)
		return err
	})
	return ended, err
}

// TestACrashLosesNothingAndSendsNothingTwice ends the program at every durable
// step. What the broker got is what counts.
func TestACrashLosesNothingAndSendsNothingTwice(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		for _, step := range []string{"before begin", "after begin", "before receipts", "after receipts", "before settled", "after settled", "before finish", "after finish"} {
			t.Run(fmt.Sprintf("%s, broker drops copies: %t", step, repeats), func(t *testing.T) {
				o := newOffice(t, repeats)
				list, target := payments(0, 20), "payment.events"
				if !repeats {
					list, target = o.messages(20), "jobs"
				}
				ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
				job := o.start(t, ids)
				dead := make(chan struct{})
				var once sync.Once
				var cancel context.CancelFunc
				ctx, cancel := context.WithCancel(t.Context())
				j := dying{o.Store, step, func() { once.Do(func() { cancel(); close(dead) }) }}
				w := review.NewWorker(review.Books{Ledger: o, Journal: j, Course: o, Fates: o, Shifts: o},
					map[string]review.Sender{"payments": o.broker, "aws": o.broker}, slog.New(slog.DiscardHandler))
				var done sync.WaitGroup
				done.Go(func() { _ = w.Run(ctx) })
				<-dead
				done.Wait()
				o.stop = func() {}
				o.restart(t)
				r := o.ended(t, job.ID)

				times := map[string]int{}
				for _, p := range o.broker.at(target) {
					times[fmt.Sprint(p.Place)]++
				}
				unknown := r.Counts[review.ItemUnknown]
				for place, n := range times {
					if n != 1 {
						t.Errorf("%s arrived %d times", place, n)
					}
				}
				want := review.JobDone
				if unknown == 20 {
					want = review.JobFailed // of none is it known that it arrived
				}
				if r.State != want || r.Counts[review.Confirmed]+unknown != 20 || len(times) < 20-unknown {
					t.Errorf("%+v; %d arrived", r, len(times))
				}
				if repeats && (unknown != 0 || len(times) != 20) {
					t.Errorf("nothing may be unknown: %+v; %d arrived", r, len(times))
				}
				if doubtful := step == "after begin" || step == "before receipts"; !repeats && (unknown > 0) != doubtful {
					t.Errorf("%d are unknown", unknown)
				}
				if !repeats && len(o.broker.left) != unknown {
					t.Errorf("%d are left in the queue, %d are unknown", len(o.broker.left), unknown)
				}
				sameTallies(t, o.Store)
			})
		}
	}
}
