package skips

import (
	"encoding/json"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// storedParked is a parked record in JSON. Names of headers are bytes there: JSON
// text would change those that are not UTF-8.
type storedParked struct {
	Topic     string
	Partition int32
	Offset    int64
	Timestamp time.Time
	Key, Body []byte
	Headers   [][2][]byte

	Queue    string
	CopyIn   int32
	AtOffset int64
}

// MarshalJSON writes a record so that UnmarshalJSON gives back its exact bytes,
// null and empty told apart.
func (p Parked) MarshalJSON() ([]byte, error) {
	r := p.Record
	out := storedParked{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp, Key: r.Key, Body: r.Body,
		Queue: p.Queue, CopyIn: p.Partition, AtOffset: p.AtOffset,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, [2][]byte{[]byte(h.Name), h.Value})
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Parked) UnmarshalJSON(text []byte) error {
	var in storedParked
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*p = Parked{Queue: in.Queue, Partition: in.CopyIn, AtOffset: in.AtOffset, Record: sources.Record{
		Topic: in.Topic, Partition: in.Partition, Offset: in.Offset, Timestamp: in.Timestamp, Key: in.Key, Body: in.Body,
	}}
	for _, h := range in.Headers {
		p.Record.Headers = append(p.Record.Headers, sources.Header{Name: string(h[0]), Value: h[1]})
	}
	return nil
}
