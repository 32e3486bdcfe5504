using System.Collections.Immutable;
using Tango.Collections;

namespace NamespaceSample.Model;

/// <summary>A namespace in memory for one caller: says what the replicated one must be.</summary>
public sealed class PlainNamespace
{
    private readonly SortedDictionary<string, Entry> _entries = new(StringComparer.Ordinal);
    private readonly Dictionary<string, ImmutableSortedDictionary<string, string>> _attributes =
        new(StringComparer.Ordinal);

    public IReadOnlyDictionary<string, Entry> Entries => _entries;

    /// <summary>By the ids of the entries.</summary>
    public IReadOnlyDictionary<string, ImmutableSortedDictionary<string, string>> Attributes => _attributes;

    /// <exception cref="NamespaceException">The change is refused.</exception>
    public void Apply(NamespaceChange change)
    {
        NamespaceException.Require(change);
        switch (change)
        {
            case NamespaceChange.MakeDirectory make:
                Add(make.Path, Entry.Directory(make.Id, make.Time));
                break;
            case NamespaceChange.CreateFile create:
                Add(create.Path, Entry.File(create.Id, create.Size, create.Time));
                break;
            case NamespaceChange.Write write:
                Entry file = Get(write.Path);
                if (file.IsDirectory) throw new NamespaceException(NamespaceError.NotAFile, write.Path);
                _entries[write.Path] = file.Written(write.Size, write.Time);
                break;
            case NamespaceChange.SetAttribute set:
                SetAttribute(Get(set.Path).Id, set.Name, set.Value);
                break;
            case NamespaceChange.Rename rename:
                Rename(rename.Path, rename.To);
                break;
            case NamespaceChange.Delete delete:
                Delete(delete.Path, delete.WithAll);
                break;
            default:
                throw new ArgumentException($"{change.GetType()} is not known", nameof(change));
        }
    }

    private Entry Get(string path) =>
        _entries.GetValueOrDefault(path) ?? throw new NamespaceException(NamespaceError.NotFound, path);

    private void Add(string path, Entry entry)
    {
        string parent = TreePath.ParentOf(path);
        if (parent != TreePath.Root)
        {
            if (!_entries.TryGetValue(parent, out Entry? directory))
                throw new NamespaceException(NamespaceError.NoParent, path);
            if (!directory.IsDirectory) throw new NamespaceException(NamespaceError.NotADirectory, parent);
        }

        if (!_entries.TryAdd(path, entry)) throw new NamespaceException(NamespaceError.Exists, path);
    }

    private void SetAttribute(string id, string name, string? value)
    {
        ImmutableSortedDictionary<string, string> before =
            _attributes.GetValueOrDefault(id, NamespaceAttributes.None);
        ImmutableSortedDictionary<string, string> after = NamespaceAttributes.With(before, name, value);
        if (after.IsEmpty) _attributes.Remove(id);
        else _attributes[id] = after;
    }

    private void Rename(string from, string to)
    {
        Entry moved = Get(from);
        if (from != to && TreePath.IsWithin(to, from)) throw new NamespaceException(NamespaceError.IntoItself, from);
        KeyValuePair<string, Entry>[] subtree = Subtree(from);
        Add(to, moved);
        foreach ((string path, Entry entry) in subtree)
        {
            _entries.Remove(path);
            _entries[to + path[from.Length..]] = entry;
        }
    }

    private void Delete(string path, bool withAll)
    {
        Get(path);
        KeyValuePair<string, Entry>[] subtree = Subtree(path);
        if (!withAll && subtree.Length > 1) throw new NamespaceException(NamespaceError.NotEmpty, path);
        foreach ((string below, Entry entry) in subtree)
        {
            _entries.Remove(below);
            _attributes.Remove(entry.Id);
        }
    }

    private KeyValuePair<string, Entry>[] Subtree(string path) =>
        [.. _entries.Where(pair => TreePath.IsWithin(pair.Key, path))];
}
