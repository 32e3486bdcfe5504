using System.Globalization;
using System.Text;
using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>The namespace as it must be, made in another way than <see cref="NamespaceTree"/>: a table of paths.
/// </summary>
internal sealed class Model
{
    // A directory has no blocks.
    private readonly Dictionary<string, (long Id, long Mode, List<Block>? Blocks, bool IsComplete)> _paths = [];
    private readonly SortedDictionary<string, string> _clients = new(StringComparer.Ordinal);
    private long _nodes;
    private long _blocks;

    public long LastId { get; private set; }

    public int Paths => _paths.Count;

    public Outcome Do(string client, long number, Operation operation)
    {
        Outcome outcome = Run(operation);
        if (!outcome.IsDone || operation.Verb == Verb.Status) return outcome;
        LastId++;
        _clients[client] = string.Create(CultureInfo.InvariantCulture, $"{number} {LastId} {outcome.Text}");
        return outcome;
    }

    public string Print()
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"last {LastId} nodes {_nodes} blocks {_blocks}");
        foreach (var (client, answered) in _clients) text.AppendLine($"client {client} {answered}");
        text.AppendLine("/ directory 0 493 ");
        // Depth first, as a tree is walked: a slash is before all other letters.
        foreach (string path in _paths.Keys.OrderBy(static path => path.Replace('/', '\u0001'), StringComparer.Ordinal))
            text.AppendLine($"{path} {Describe(path)}");
        return text.ToString();
    }

    private string Describe(string path)
    {
        var (id, mode, blocks, isComplete) = _paths[path];
        string kind = blocks is null ? "directory" : isComplete ? "file" : "open";
        return string.Create(CultureInfo.InvariantCulture, $"{kind} {id} {mode} {string.Join(',', blocks ?? [])}");
    }

    private Outcome Run(Operation operation)
    {
        string path = operation.Path;
        bool isThere = _paths.TryGetValue(path, out var known);
        bool isMade = operation.Verb is Verb.Mkdir or Verb.Create;
        if (!isThere && !isMade) return Outcome.Refused(Refusal.NotFound);
        switch (operation.Verb)
        {
            case Verb.Status:
                return new Outcome(true, Describe(path));
            case Verb.Mkdir or Verb.Create:
                if (WhyNot(path) is { } refusal) return Outcome.Refused(refusal);
                _paths[path] = operation.Verb == Verb.Mkdir ? (++_nodes, 493, null, false) : (++_nodes, 420, [], false);
                return Outcome.Done(_nodes);
            case Verb.SetMode:
                _paths[path] = known with { Mode = operation.Value };
                return Outcome.Done(known.Id);
            case Verb.Delete:
                return Outcome.Done(SubtreeOf(path).Count(key => _paths.Remove(key)));
            case Verb.Rename:
                return Rename(path, operation.To);
            default:
                if (known.Blocks is null) return Outcome.Refused(Refusal.NotAFile);
                if (known.IsComplete) return Outcome.Refused(Refusal.IsComplete);
                if (operation.Verb == Verb.Complete)
                {
                    _paths[path] = known with { IsComplete = true };
                    return Outcome.Done(known.Blocks.Sum(static block => block.Length));
                }

                known.Blocks.Add(new Block(++_blocks, operation.Value));
                return Outcome.Done(_blocks);
        }
    }

    private Outcome Rename(string path, string to)
    {
        if (to.StartsWith(path + "/", StringComparison.Ordinal)) return Outcome.Refused(Refusal.IntoItself);
        if (WhyNot(to) is { } refusal) return Outcome.Refused(refusal);
        long id = _paths[path].Id;
        foreach (string moved in SubtreeOf(path))
        {
            _paths.Remove(moved, out var entry);
            _paths.Add(to + moved[path.Length..], entry);
        }

        return Outcome.Done(id);
    }

    private Refusal? WhyNot(string path)
    {
        string parent = path[..path.LastIndexOf('/')];
        if (parent.Length > 0)
        {
            if (!_paths.TryGetValue(parent, out var directory)) return Refusal.NoParent;
            if (directory.Blocks is not null) return Refusal.NotADirectory;
        }

        return _paths.ContainsKey(path) ? Refusal.Exists : null;
    }

    private List<string> SubtreeOf(string path) =>
        [.. _paths.Keys.Where(key => key == path || key.StartsWith(path + "/", StringComparison.Ordinal))];
}
