package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"strings"

	"redeliver/web/store/db"
)

// OpenToRead connects to the database as Open does, and can change nothing in it:
// Write is nil, the file must be there, and PostgreSQL refuses to write.
func OpenToRead(ctx context.Context, pathOrURL string) (*Store, error) {
	s, err := openToRead(pathOrURL)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	return s, nil
}

func openToRead(pathOrURL string) (*Store, error) {
	if strings.HasPrefix(pathOrURL, "postgres://") || strings.HasPrefix(pathOrURL, "postgresql://") {
		address, err := url.Parse(pathOrURL)
		if err != nil {
			return nil, errors.New("the address of the database cannot be read") // it may hold a password
		}
		settings := address.Query()
		settings.Set("default_transaction_read_only", "on")
		address.RawQuery = settings.Encode()
		pool, err := sql.Open("pgx", address.String())
		if err != nil {
			return nil, err
		}
		return &Store{Dialect: Postgres, URL: pathOrURL, Read: pool}, nil
	}
	if _, err := os.Stat(pathOrURL); err != nil { // SQLite would make the file
		return nil, err
	}
	read, err := sqlitePool(pathOrURL, sqliteReaders, true)
	if err != nil {
		return nil, err
	}
	return &Store{Dialect: SQLite, URL: pathOrURL, Read: read}, nil
}

// gradedPage is how many submissions are read at once: at most 64 KiB of source
// each, and a verdict.
const gradedPage = 50

// Graded gives every submission that has a verdict, the oldest first, and ends
// with the first error.
func (s *Store) Graded(ctx context.Context) iter.Seq2[Submission, error] {
	return func(yield func(Submission, error) bool) {
		after := int64(0)
		for {
			rows, err := s.reading(ctx).ListGraded(ctx, db.ListGradedParams{After: after, MaxRows: gradedPage})
			if err != nil {
				yield(Submission{}, fmt.Errorf("list submissions: %w", err))
				return
			}
			for _, row := range rows {
				sub, err := submissionOf(row)
				if !yield(sub, err) || err != nil {
					return
				}
				after = row.ID
			}
			if len(rows) < gradedPage {
				return
			}
		}
	}
}
