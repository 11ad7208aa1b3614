//go:build campaign

package campaign

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// mutation breaks one guard rail of the program.
type mutation struct {
	guard    string // what holds
	broken   string // what is done instead
	edits    []edit
	scenario scenario // that must notice
}

// edit replaces a text that occurs in a file, once. One that is not there any
// more fails: the mutation is to be written anew.
type edit struct{ file, old, new string }

// scenario is a small campaign.
type scenario struct {
	name string
	run  func(t testing.TB, program string, seed uint64) (*run, error)
}

const mutationLetters = 150

func stormOnKafka(points ...string) scenario {
	return scenario{"Kafka, killed at " + strings.Join(points, ", "), func(t testing.TB, program string, seed uint64) (*run, error) {
		server := sourcetest.SharedKafka(t)
		return do(t, program, kafkaOn(t, server, server.Address, seed), newTally(points, 5, 0), seed, mutationLetters, 6*len(points))
	}}
}

func stormOnSQS(fifo bool, points ...string) scenario {
	name := map[bool]string{false: "SQS standard, killed at ", true: "SQS FIFO, killed at "}[fifo]
	return scenario{name + strings.Join(points, ", "), func(t testing.TB, program string, seed uint64) (*run, error) {
		endpoint := sqstest.New(sqstest.Options{}).Start(t)
		return do(t, program, sqsOn(t, "own endpoint", endpoint, endpoint, seed, fifo), newTally(points, 5, 0), seed, mutationLetters, 6*len(points))
	}}
}

func under(n nemesis, points ...string) scenario {
	return scenario{n.name, func(t testing.TB, program string, seed uint64) (*run, error) {
		return n.suffer(t, program, points, seed, mutationLetters, 10)
	}}
}

// mutations are guard rails that facts/redrive.md 3.3 knows somebody to have
// lacked, and those that our own design rests on.
var mutations = []mutation{
	{
		guard: "what was sent is marked after the broker has accepted it", broken: "what is in flight after a crash is marked as sent",
		scenario: stormOnKafka("redrive-begun"),
		edits: []edit{{
			"review/ship.go", "	if d.again && d.RepeatUntil.IsZero() && !d.Traceable {\n",
			"	if d.again {\n\t\treceipts := make([]sources.Receipt, len(d.Items))\n\t\tfor i, item := range d.Items {\n\t\t\treceipts[i] = sources.Receipt{Item: item}\n\t\t}\n\t\treturn receipts, nil\n\t}\n	if d.again && d.RepeatUntil.IsZero() && !d.Traceable {\n",
		}},
	},
	{
		guard: "after a crash Kafka gets the same batch", broken: "the batch gets a new producer id",
		scenario: stormOnKafka("redrive-sent", "redrive-sent-one"),
		edits: []edit{{
			"sources/kafka/ship.go", "	w := &shipping{", `	if by, err := s.producerFor(ctx, sources.TopicPartition{Topic: "none"}); err == nil {
		c.ProducerID, c.Epoch, c.Sequence = by.id, by.epoch, 0
		binary.BigEndian.PutUint64(c.batch[43:], uint64(by.id))
		binary.BigEndian.PutUint16(c.batch[51:], uint16(by.epoch))
		binary.BigEndian.PutUint32(c.batch[53:], 0)
		binary.BigEndian.PutUint32(c.batch[17:], crc32.Checksum(c.batch[21:], castagnoli))
	}
	w := &shipping{`,
		}, {"sources/kafka/ship.go", "import (\n", "import (\n\t\"encoding/binary\"\n\t\"hash/crc32\"\n"}},
	},
	{
		guard: "a batch that the broker does not know is looked for on the target", broken: "it is taken for not sent",
		scenario: under(lostAcks),
		edits:    []edit{{"sources/kafka/ship.go", "			return w.find(ctx, err)\n", "			return w.all(fmt.Errorf(\"%w (%w)\", errNotThere, err)), nil\n"}},
	},
	{
		guard: "nothing of a plan lands in a topic that was made again", broken: "the topic id is not compared",
		scenario: under(deletedTarget(true)),
		edits: []edit{
			{"sources/kafka/ship.go", "id != w.cargo.TopicID {", "id == \"\" {"},
			{"sources/kafka/pack.go", "id != \"\" && id != d.about.TopicID {", "id != \"\" && d.about.TopicID == \"\" {"},
		},
	},
	{
		guard: "null stays null", broken: "a null header is sent as an empty one",
		scenario: stormOnKafka("redrive-finished"),
		edits:    []edit{{"sources/kafka/batch.go", "		b = appendBytes(b, h.Value)\n", "		b = appendBytes(b, append([]byte{}, h.Value...))\n"}},
	},
	{
		guard: "headers may stand twice, in their order", broken: "the first of two is dropped",
		scenario: stormOnKafka("redrive-finished"),
		edits: []edit{{"sources/kafka/batch.go", "	b = binary.AppendVarint(b, int64(len(parcel.Headers)))\n", `	var kept []sources.Header
	for i, h := range parcel.Headers {
		if i+1 == len(parcel.Headers) || parcel.Headers[i+1].Name != h.Name {
			kept = append(kept, h)
		}
	}
	parcel.Headers = kept
	b = binary.AppendVarint(b, int64(len(parcel.Headers)))
`}},
	},
	{
		guard: "an answer that was lost is unknown, on SQS standard", broken: "it is sent again",
		scenario: stormOnSQS(false, "redrive-sent", "redrive-sent-one"),
		edits:    []edit{{"review/ship.go", "	if d.again && d.RepeatUntil.IsZero() && !d.Traceable {\n", "	if d.again && d.RepeatUntil.IsZero() && len(d.Items) == 0 {\n"}},
	},
	{
		guard: "each entry of SendMessageBatch has its own result", broken: "Failed is not looked at",
		scenario: under(partial(false)),
		edits: []edit{{
			"sources/sqs/ship.go", "		if !bad.SenderFault && !last {\n",
			"		if d.touched = true; len(entries) > 0 {\n\t\t\td.receipts[e.Item] = sources.Receipt{Item: e.Item, MessageID: \"unheard\"}\n\t\t\tcontinue\n\t\t}\n		if !bad.SenderFault && !last {\n",
		}},
	},
	{
		guard: "each entry of DeleteMessageBatch has its own result", broken: "Failed is not looked at",
		scenario: under(partial(false)),
		edits:    []edit{{"sources/sqs/settle.go", "	for _, bad := range out.Failed {\n", "	for _, id := range ids {\n\t\tdone[id] = true\n\t}\n	for _, bad := range out.Failed {\n"}},
	},
	{
		guard: "on SQS FIFO a crash-retry has the same deduplication id", broken: "it has a new one",
		scenario: stormOnSQS(true, "redrive-sent", "redrive-sent-one"),
		edits:    []edit{{"sources/sqs/ship.go", "m.MessageDeduplicationId = &e.Dedup", "m.MessageDeduplicationId = aws.String(e.Dedup[:32] + strconv.FormatInt(time.Now().UnixNano(), 36))"}},
	},
	{
		guard: "a letter is deleted after its copy was accepted", broken: "it is deleted before",
		scenario: under(lossy("own endpoint: requests and answers lost", ownEndpoint, false)),
		edits:    []edit{{"sources/sqs/ship.go", "	for _, round := range d.rounds(entries) {\n", "	_, _ = s.takeOff(ctx, cargo)\n	for _, round := range d.rounds(entries) {\n"}},
	},
	{
		guard: "a letter is in one open redrive only", broken: "neither the ledger's index nor the start looks",
		scenario: under(twoTabs),
		edits: []edit{
			{"store/migrations/007_ledger.sql", "CREATE UNIQUE INDEX items_hold", "CREATE INDEX items_hold"},
			{"store/redrives.go", "	if err == nil && len(taken) > 0 {\n", "	if err == nil && len(taken) < 0 {\n"},
		},
	},
	{
		guard: "letters that arrive after the plan stay", broken: "the start takes what is open then",
		scenario: under(laterArrivals),
		edits: []edit{{"store/redrives.go", "	first, err := numbers(ctx, tx, \"items\", r.Total)\n", `	_, err := tx.ExecContext(ctx, ` + "`" + `INSERT INTO plan_letters (plan, place, letter, target_queue, target_partition, target_topic_id, why, names, warnings, refused)
		SELECT p.plan, p.total + ROW_NUMBER() OVER (ORDER BY l.number) - 1, l.id, one.target_queue, one.target_partition, one.target_topic_id, '', one.names, '', ''
		FROM letters l JOIN (SELECT id AS plan, total FROM plans WHERE id = ?) p JOIN plan_letters one ON one.plan = p.plan AND one.place = 0
		WHERE l.status = 'open' AND l.id NOT IN (SELECT letter FROM plan_letters WHERE plan = p.plan)` + "`" + `, plan)
	if err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, ` + "`SELECT COUNT(*) FROM plan_letters WHERE plan = ?`" + `, plan).Scan(&r.Total); err != nil {
		return err
	}
	first, err := numbers(ctx, tx, "items", r.Total)
`}},
	},
	{
		guard: "each effect is in the audit, once", broken: "a sent letter is written twice",
		scenario: stormOnKafka("redrive-finished"),
		edits:    []edit{{"store/receipts.go", "	return b.auditItems(ctx, list, `'sent to '", "	if err := b.auditItems(ctx, list, `'sent to again'`); err != nil {\n\t\treturn err\n\t}\n	return b.auditItems(ctx, list, `'sent to '"}},
	},
}

// TestMutations breaks one guard rail after the other. Each must be noticed,
// by a scenario that the program as it is passes.
func TestMutations(t *testing.T) {
	passed, rows := map[string]error{}, []string{}
	only := os.Getenv("CAMPAIGN_ONLY")
	for i, m := range mutations {
		if only != "" && !strings.Contains(m.guard+" "+m.broken, only) {
			continue
		}
		seed := uint64(7000 + 10*i)
		t.Run(strings.ReplaceAll(m.broken, " ", "_"), func(t *testing.T) {
			program := mutant(t, m)
			if _, known := passed[m.scenario.name]; !known {
				passed[m.scenario.name] = verdict(m.scenario.run(quiet{t}, executable(t), seed))
			}
			if err := passed[m.scenario.name]; err != nil {
				t.Fatalf("the program as it is does not pass %q: %v", m.scenario.name, err)
			}
			red := verdict(m.scenario.run(quiet{t}, program, seed+1))
			if red == nil {
				t.Errorf("not noticed by %q", m.scenario.name)
			}
			said := "**not noticed**"
			if red != nil {
				said = firstLine(red.Error())
			}
			t.Log(said)
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", m.guard, m.broken, m.scenario.name, strings.ReplaceAll(said, "|", "/")))
		})
	}
	if only != "" {
		return
	}
	text := fmt.Sprintf("`make campaign-mutations` at commit %s: %d mutations, each built and run against the scenario that must notice it, which the program as it is passes.\n\n"+
		"| what holds | what was done instead | scenario | what was noticed first |\n|---|---|---|---|\n%s\n", commit(), len(rows), strings.Join(rows, "\n"))
	if err := section(mutationsTitle, text); err != nil {
		t.Error(err)
	}
}

// quiet is a test whose scenario may go wrong without failing it.
type quiet struct{ testing.TB }

// verdict is the first thing that a scenario found wrong.
func verdict(r *run, err error) error {
	if r != nil && len(r.violations) > 0 {
		return fmt.Errorf("%d violations: %s", len(r.violations), r.violations[0])
	}
	return err
}

// mutant builds the program with a guard rail broken, from a copy of the tree.
func mutant(t *testing.T, m mutation) string {
	t.Helper()
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	copyTree := exec.Command("git", "-C", moduleRoot, "checkout-index", "--all", "--prefix="+tree+"/")
	if out, err := copyTree.CombinedOutput(); err != nil {
		t.Fatalf("copy the tree: %v\n%s", err, out)
	}
	for _, e := range m.edits {
		if err := e.apply(tree); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "unwedge")
	if err := build(tree, program); err != nil {
		t.Fatal(err)
	}
	return program
}

func (e edit) apply(tree string) error {
	path := filepath.Join(tree, e.file)
	text, err := os.ReadFile(path)
	if n := strings.Count(string(text), e.old); err != nil || n != 1 {
		return cmp.Or(err, fmt.Errorf("%s has %q %d times: write the mutation anew", e.file, e.old, n))
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o600)
}
