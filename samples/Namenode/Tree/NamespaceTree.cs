using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace NamenodeSample.Tree;

/// <summary>The namespace: a pure function of its edits. One thread at a time.</summary>
internal sealed class NamespaceTree
{
    private readonly Node _root = new(0, isDirectory: true);

    // The newest operation of each client: one that is sent again is answered from here, at any namenode.
    private readonly SortedDictionary<string, Answered> _answered = new(StringComparer.Ordinal);

    private long _nodes;
    private long _blocks;

    /// <summary>The last edit that the tree has; 0: none.</summary>
    public long LastId { get; private set; }

    /// <summary>The client's newest operation that was done; null: none.</summary>
    public Answered? AnswerOf(string client) => _answered.GetValueOrDefault(client);

    /// <summary>Does an operation, which becomes the next edit, unless it is refused.</summary>
    public Outcome Do(string client, long number, Operation operation)
    {
        Outcome outcome = Run(operation);
        if (!outcome.IsDone) return outcome;
        LastId++;
        _answered[client] = new Answered(client, number, LastId, outcome.Text);
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
        foreach (var (path, node) in Walk(_root, "")) text.AppendLine(CultureInfo.InvariantCulture, $"{path} {node}");
        return text.ToString();
    }

    public static string DigestOf(string printed) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(printed)))[..16];

    public Image ToImage() => new(LastId, _nodes, _blocks, [.. _answered.Values],
    [
        .. Walk(_root, "").Select(static pair => new ImageEntry(pair.Path, pair.Node.Id, pair.Node.Children is not null,
            pair.Node.Mode, pair.Node.IsComplete, [.. pair.Node.Blocks])),
    ]);

    public static NamespaceTree FromImage(Image image)
    {
        var tree = new NamespaceTree { LastId = image.LastId, _nodes = image.Nodes, _blocks = image.Blocks };
        foreach (Answered answered in image.Answered) tree._answered.Add(answered.Client, answered);
        foreach (ImageEntry entry in image.Entries)
        {
            var node = new Node(entry.Id, entry.IsDirectory) { Mode = entry.Mode, IsComplete = entry.IsComplete };
            node.Blocks.AddRange(entry.Blocks);
            Node parent = tree.Find(Paths.ParentOf(entry.Path))
                ?? throw new JournalException($"The image has no directory for {entry.Path}");
            parent.Children!.Add(Paths.NameOf(entry.Path), node);
        }

        return tree;
    }

    private Outcome Run(Operation operation)
    {
        if (!Paths.IsValid(operation.Path)) return Outcome.Refused(Refusal.BadPath);
        return operation.Verb switch
        {
            Verb.Mkdir => Add(operation.Path, isDirectory: true),
            Verb.Create => Add(operation.Path, isDirectory: false),
            Verb.AddBlock => OfFile(operation.Path, file =>
            {
                file.Blocks.Add(new Block(++_blocks, operation.Value));
                return _blocks;
            }),
            Verb.Complete => OfFile(operation.Path, static file =>
            {
                file.IsComplete = true;
                return file.Blocks.Sum(static block => block.Length);
            }),
            Verb.Rename => Rename(operation.Path, operation.To),
            Verb.Delete => Delete(operation.Path),
            Verb.SetMode => SetMode(operation.Path, (int)operation.Value),
            _ => throw new ArgumentException($"{operation.Verb} is no change", nameof(operation)),
        };
    }

    private Outcome Add(string path, bool isDirectory)
    {
        if (PlaceFor(path, out Node? parent) is { } refusal) return Outcome.Refused(refusal);
        parent!.Children!.Add(Paths.NameOf(path), new Node(++_nodes, isDirectory));
        return Outcome.Done(_nodes);
    }

    private Outcome OfFile(string path, Func<Node, long> change)
    {
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        if (node.Children is not null) return Outcome.Refused(Refusal.NotAFile);
        return node.IsComplete ? Outcome.Refused(Refusal.IsComplete) : Outcome.Done(change(node));
    }

    private Outcome Rename(string path, string to)
    {
        if (!Paths.IsValid(to)) return Outcome.Refused(Refusal.BadPath);
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        if (Paths.IsBelow(to, path)) return Outcome.Refused(Refusal.IntoItself);
        if (PlaceFor(to, out Node? parent) is { } refusal) return Outcome.Refused(refusal);
        Find(Paths.ParentOf(path))!.Children!.Remove(Paths.NameOf(path));
        parent!.Children!.Add(Paths.NameOf(to), node);
        return Outcome.Done(node.Id);
    }

    private Outcome Delete(string path)
    {
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        Find(Paths.ParentOf(path))!.Children!.Remove(Paths.NameOf(path));
        return Outcome.Done(node.Count());
    }

    private Outcome SetMode(string path, int mode)
    {
        if (Find(path) is not { } node) return Outcome.Refused(Refusal.NotFound);
        node.Mode = mode;
        return Outcome.Done(node.Id);
    }

    /// <summary>The directory in which a path may be made.</summary>
    private Refusal? PlaceFor(string path, out Node? parent)
    {
        parent = Find(Paths.ParentOf(path));
        if (parent is null) return Refusal.NoParent;
        if (parent.Children is null) return Refusal.NotADirectory;
        return parent.Children.ContainsKey(Paths.NameOf(path)) ? Refusal.Exists : null;
    }

    private Node? Find(string path)
    {
        Node? node = _root;
        foreach (string name in path.Split('/').Skip(1)) node = node?.Children?.GetValueOrDefault(name);
        return node;
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
