using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace NamenodeSample.Tree;

/// <summary>The namespace: a pure function of its edits. One thread at a time.</summary>
internal sealed class NamespaceTree
{
    // Bounds the images: each of them has all answers. A client that sends its operation again behind as many edits of
    // other clients is not known any more.
    private const int MaxAnswered = 4_096;

    private readonly Node _root = new(0, isDirectory: true);

    // The newest operation of each client: one that is sent again is answered from here, at any namenode. Clients are
    // forgotten in the order of edits, so that every namenode forgets the same.
    private readonly SortedDictionary<string, Answered> _answered = new(StringComparer.Ordinal);
    private readonly SortedDictionary<long, string> _byEdit = [];

    private long _nodes;
    private long _paths;
    private long _blocks;

    /// <summary>The last edit that the tree has; 0: none.</summary>
    public long LastId { get; private set; }

    /// <summary>Paths and clients: an image has an entry for each.</summary>
    public long Size => _paths + _answered.Count;

    /// <summary>The client's newest operation that was done; null: none.</summary>
    public Answered? AnswerOf(string client) => _answered.GetValueOrDefault(client);

    /// <summary>Does an operation, which becomes the next edit, unless it is refused.</summary>
    public Outcome Do(string client, long number, Operation operation)
    {
        Outcome outcome = Run(operation);
        if (!outcome.IsDone) return outcome;
        LastId++;
        if (_answered.TryGetValue(client, out Answered? before)) _byEdit.Remove(before.Id);
        Remember(new Answered(client, number, LastId, outcome.Text));
        if (_byEdit.Count <= MaxAnswered) return outcome;
        var (oldest, forgotten) = _byEdit.First();
        _byEdit.Remove(oldest);
        _answered.Remove(forgotten);
        return outcome;
    }

    /// <summary>Applies an edit of the journal. Passes over one that the tree has.</summary>
    /// <exception cref="JournalException">The edit does not follow on the tree.</exception>
    public void Replay(Edit edit)
    {
        if (edit.Id <= LastId || edit.Operation.Verb == Verb.Mark) return;
        if (edit.Id != LastId + 1) throw new JournalException($"Edit {edit.Id} follows on edit {LastId}");
        Outcome outcome = Do(edit.Client, edit.Number, edit.Operation);
        if (!outcome.IsDone)
            throw new JournalException($"Edit {edit.Id}, {edit.Operation}, cannot be done: {outcome.Text}");
    }

    /// <summary>A file or directory as text.</summary>
    public Outcome Status(string path) =>
        Find(path) is { } node ? new Outcome(true, $"{node}") : Outcome.Refused(Refusal.NotFound);

    /// <summary>All of the tree, a line for each client and each path.</summary>
    public string Print()
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"last {LastId} nodes {_nodes} blocks {_blocks}");
        foreach (Answered answered in _answered.Values)
            text.AppendLine(CultureInfo.InvariantCulture,
                $"client {answered.Client} {answered.Number} {answered.Id} {answered.Text}");
        text.AppendLine(CultureInfo.InvariantCulture, $"/ {_root}");
        foreach (var (path, node) in Walk(_root, "")) text.AppendLine(CultureInfo.InvariantCulture, $"{path} {node}");
        return text.ToString();
    }

    public static string DigestOf(string printed) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(printed)))[..16];

    public Image ToImage() => new(LastId, _nodes, _blocks, [.. _answered.Values],
    [
        .. Walk(_root, "").Select(static pair => new ImageEntry(pair.Path, pair.Node.Id, pair.Node.Children is not null,
            pair.Node.Mode, pair.Node.IsComplete, [.. pair.Node.Blocks], pair.Node.ToAttributes())),
    ], _root.ToAttributes());

    public static NamespaceTree FromImage(Image image)
    {
        var tree = new NamespaceTree { LastId = image.LastId, _nodes = image.Nodes, _blocks = image.Blocks };
        tree._root.Set(image.Root);
        foreach (Answered answered in image.Answered) tree.Remember(answered);
        foreach (ImageEntry entry in image.Entries)
        {
            var node = new Node(entry.Id, entry.IsDirectory) { Mode = entry.Mode, IsComplete = entry.IsComplete };
            node.Blocks.AddRange(entry.Blocks);
            node.Set(entry.Attributes);
            Node parent = tree.Find(Paths.ParentOf(entry.Path))
                ?? throw new JournalException($"The image has no directory for {entry.Path}");
            parent.Children!.Add(Paths.NameOf(entry.Path), node);
            tree._paths++;
        }

        return tree;
    }

    /// <summary>The file or directory of a path; empty: the root. Null: there is none.</summary>
    public Node? Find(string path)
    {
        Node? node = _root;
        foreach (string name in path.Split('/').Skip(1)) node = node?.Children?.GetValueOrDefault(name);
        return node;
    }

    private void Remember(Answered answered)
    {
        _answered[answered.Client] = answered;
        _byEdit[answered.Id] = answered.Client;
    }

    private Outcome Run(Operation operation)
    {
        // The root has attributes, and never changes otherwise.
        bool isRoot = operation is { Path: "", Verb: Verb.SetAttributes };
        if (!isRoot && !Paths.IsValid(operation.Path)) return Outcome.Refused(Refusal.BadPath);
        return operation.Verb switch
        {
            Verb.Mkdir => Add(operation, isDirectory: true),
            Verb.Create => Add(operation, isDirectory: false),
            Verb.AddBlock => OfFile(operation.Path, file =>
            {
                file.Blocks.Add(new Block(++_blocks, operation.Value));
                return _blocks;
            }),
            Verb.Complete => OfFile(operation.Path, static file =>
            {
                file.IsComplete = true;
                return file.Length;
            }),
            Verb.Rename => Rename(operation),
            Verb.Delete => Delete(operation),
            Verb.SetMode => SetMode(operation.Path, (int)operation.Value),
            Verb.SetAttributes => SetAttributes(operation),
            _ => throw new ArgumentException($"{operation.Verb} is no change", nameof(operation)),
        };
    }

    private Outcome Add(Operation operation, bool isDirectory)
    {
        string path = operation.Path;
        // All is checked before the first directory is made: a refused operation has changed nothing.
        if (Has(operation, Options.Parents) && WhyNotAbove(path) is { } above) return Outcome.Refused(above);
        if (PlaceFor(operation, path, !isDirectory, out Node? parent) is { } refusal
            && !(refusal == Refusal.NoParent && Has(operation, Options.Parents)))
            return Outcome.Refused(refusal);
        parent ??= AddDirectories(Paths.ParentOf(path), operation.Attributes);
        Put(parent, Paths.NameOf(path), new Node(++_nodes, isDirectory), operation.Attributes);
        return Outcome.Done(_nodes);
    }

    /// <summary>The first directory above a path that is a file.</summary>
    private Refusal? WhyNotAbove(string path)
    {
        Node? node = _root;
        foreach (string name in Paths.ParentOf(path).Split('/').Skip(1))
        {
            node = node.Children!.GetValueOrDefault(name);
            if (node is null) return null;
            if (node.Children is null) return Refusal.NotADirectory;
        }

        return null;
    }

    private Node AddDirectories(string path, Attributes? attributes)
    {
        Node node = _root;
        // Only the path itself gets the mode.
        Attributes? above = attributes is null ? null : attributes with { Mode = null };
        foreach (string name in path.Split('/').Skip(1))
        {
            if (!node.Children!.TryGetValue(name, out Node? next))
                Put(node, name, next = new Node(++_nodes, isDirectory: true), above);
            node = next;
        }

        return node;
    }

    private void Put(Node parent, string name, Node node, Attributes? attributes)
    {
        node.Set(attributes);
        if (!parent.Children!.ContainsKey(name)) _paths++;
        parent.Children[name] = node;
        parent.Modified = attributes?.Modified ?? parent.Modified;
    }

    private static bool Has(Operation operation, Options option) => ((Options)operation.Value).HasFlag(option);

    private Outcome OfFile(string path, Func<Node, long> change)
    {
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        if (node.Children is not null) return Outcome.Refused(Refusal.NotAFile);
        return node.IsComplete ? Outcome.Refused(Refusal.IsComplete) : Outcome.Done(change(node));
    }

    private Outcome Rename(Operation operation)
    {
        var (path, to) = (operation.Path, operation.To);
        if (!Paths.IsValid(to)) return Outcome.Refused(Refusal.BadPath);
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        if (Paths.IsBelow(to, path)) return Outcome.Refused(Refusal.IntoItself);
        if (path == to) return Outcome.Refused(Refusal.Exists);
        if (PlaceFor(operation, to, node.Children is null, out Node? parent) is { } refusal)
            return Outcome.Refused(refusal);
        var (names, characters) = node.Reach();
        if (to.AsSpan().Count('/') + names > Paths.MaxNames || to.Length + characters > Paths.MaxCharacters)
            return Outcome.Refused(Refusal.TooLong);
        Remove(path, operation.Attributes);
        if (parent!.Children!.ContainsKey(Paths.NameOf(to))) _paths--;
        parent.Children[Paths.NameOf(to)] = node;
        parent.Modified = operation.Attributes?.Modified ?? parent.Modified;
        return Outcome.Done(node.Id);
    }

    private Outcome Delete(Operation operation)
    {
        if (Find(operation.Path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        if (node.Children is { Count: > 0 } && Has(operation, Options.OnlyEmpty))
            return Outcome.Refused(Refusal.NotEmpty);
        Remove(operation.Path, operation.Attributes);
        long deleted = node.Count();
        _paths -= deleted;
        return Outcome.Done(deleted);
    }

    private void Remove(string path, Attributes? attributes)
    {
        Node parent = Find(Paths.ParentOf(path))!;
        parent.Children!.Remove(Paths.NameOf(path));
        parent.Modified = attributes?.Modified ?? parent.Modified;
    }

    private Outcome SetAttributes(Operation operation)
    {
        if (Find(operation.Path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        node.Set(operation.Attributes);
        return Outcome.Done(node.Id);
    }

    private Outcome SetMode(string path, int mode)
    {
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        node.Mode = mode;
        return Outcome.Done(node.Id);
    }

    /// <summary>The directory in which a path may be made, or replaced.</summary>
    private Refusal? PlaceFor(Operation operation, string path, bool isFile, out Node? parent)
    {
        parent = Find(Paths.ParentOf(path));
        if (parent is null) return Refusal.NoParent;
        if (parent.Children is null) return Refusal.NotADirectory;
        if (!parent.Children.TryGetValue(Paths.NameOf(path), out Node? known)) return null;
        if (!Has(operation, Options.Overwrite) || known.Children is null != isFile) return Refusal.Exists;
        return known.Children is { Count: > 0 } ? Refusal.NotEmpty : null;
    }

    private static IEnumerable<(string Path, Node Node)> Walk(Node directory, string path)
    {
        foreach (var (name, node) in directory.Children!)
        {
            yield return ($"{path}/{name}", node);
            if (node.Children is null) continue;
            foreach (var below in Walk(node, $"{path}/{name}")) yield return below;
        }
    }
}
