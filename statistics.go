package hql

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// statisticsFiles keeps statistics in the user's cache directory: hql/statistics/CLUSTER/TABLE.json. They contain values
// of rows, so only the user may read them.
type statisticsFiles struct{ cluster string }

// path returns the file of a table; names may contain any characters.
func (s statisticsFiles) path(name string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	short := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:16])
	}
	return filepath.Join(dir, "hql", "statistics", short(s.cluster), short(name)+".json"), nil
}

// Load implements exec.StatisticsFiles.
func (s statisticsFiles) Load(name string) ([]byte, error) {
	path, err := s.path(name)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save implements exec.StatisticsFiles.
func (s statisticsFiles) Save(name string, b []byte) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path) // atomically
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Remove implements exec.StatisticsFiles.
func (s statisticsFiles) Remove(name string) error {
	path, err := s.path(name)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
