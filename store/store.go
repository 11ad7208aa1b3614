// Package store keeps all state in SQL: one text for SQLite and Postgres, with
// ? for parameters, times as microseconds since 1970 (BIGINT), bytes as BYTEA.
// Nothing but the search index rests on what only SQLite can do.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/unwedge/unwedge/review"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is how many queries may read at the same time as one writes.
const readers = 4

const (
	// writeCache is how many KiB of pages the writer keeps in memory: SQLite's 2 MiB
	// are less than one load of a redrive changes.
	writeCache = 16 << 10
	// walPages is how many pages of 4 KiB the log has when it is copied into the
	// file. At SQLite's 1,000 that would be after each load, and would copy the bytes
	// of shipments that are forgotten one transaction later.
	walPages = 8000
)

// Store is the open database. Writing goes through one connection, so that a
// transaction that reads and then writes never finds the database busy.
type Store struct {
	write  *sql.DB
	read   *sql.DB
	weekly atomic.Pointer[review.Weekly] // when the review is, by which letters are counted
	index  indexer
	unlock func() error
}

// ErrInUse is a store that another process has open.
var ErrInUse = errors.New("the store is in use")

// Open opens or creates the SQLite file at path, for this process alone, and
// brings its schema up to date. A postgres:// address is refused: it comes
// later. Errors: ErrInUse.
func Open(ctx context.Context, path string) (*Store, error) {
	if strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://") {
		return nil, errors.New("store: Postgres is not supported yet; name a file")
	}
	unlock, err := lock(path)
	if err != nil {
		return nil, err
	}
	s, err := openLocked(ctx, path)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	s.unlock = unlock
	s.index.start(s)
	return s, nil
}

func openLocked(ctx context.Context, path string) (*Store, error) {
	write, err := open(path, "_txlock=immediate", fmt.Sprintf("_pragma=cache_size(-%d)", writeCache), fmt.Sprintf("_pragma=wal_autocheckpoint(%d)", walPages))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := open(path, "_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	s := &Store{write: write, read: read}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store %s: %w", path, err), read.Close(), write.Close())
	}
	return s, nil
}

// prepare brings the schema up to date and reads what every transaction needs.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := s.makeIndex(ctx); err != nil {
		return err
	}
	return s.readReview(ctx)
}

// open opens the file with a full sync at each commit: intents and the outbox
// must survive a power cut.
func open(path string, more ...string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&" + strings.Join(more, "&")
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	return db, nil
}

// Close closes the store.
func (s *Store) Close() error {
	s.index.end()
	return errors.Join(s.read.Close(), s.write.Close(), s.unlock())
}

// Writable tells whether the store takes a write right now.
func (s *Store) Writable(ctx context.Context) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE schema_version SET version = version`)
		return err
	})
}

// in runs f in a transaction that commits when f returns nil.
func (s *Store) in(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit a transaction: %w", err)
	}
	return nil
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// migrate runs the migrations that this database has not seen, each in a
// transaction of its own with the new version.
func (s *Store) migrate(ctx context.Context) error {
	if _, err := s.write.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`); err != nil {
		return err
	}
	var version int
	err := s.write.QueryRowContext(ctx, `SELECT version FROM schema_version`).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = s.write.ExecContext(ctx, `INSERT INTO schema_version (version) VALUES (0)`)
	}
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("its schema is version %d, made by a newer unwedge; this one knows %d", version, len(names))
	}
	for i, name := range names[version:] {
		if err := s.migrateOne(ctx, name, version+i+1); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
	}
	return nil
}

func (s *Store) migrateOne(ctx context.Context, name string, version int) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	return s.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE schema_version SET version = ?`, version)
		return err
	})
}

// micros is how a time is stored: microseconds since 1970, 0 for no time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is the time of stored microseconds.
func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
