using System.Globalization;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Load;

/// <summary>
/// A client that makes random changes, many of them renames of directories between the partitions. It chooses from what
/// it saw a while ago, so that it meets what others have changed since: such a change is refused.
/// </summary>
public sealed class LoadClient(int number, NamespaceService service, Random random)
{
    private const int LookEvery = 20;
    private const int MaxSize = 100_000;

    private List<KeyValuePair<string, Entry>> _seen = [];
    private int _made;

    public List<CommittedChange> Committed { get; } = [];

    public int Refused { get; private set; }

    /// <summary>Makes changes until so many have taken effect.</summary>
    public async Task RunAsync(int changes, Action made, CancellationToken cancellationToken)
    {
        for (int attempt = 0; Committed.Count < changes; attempt++)
        {
            if (attempt % LookEvery == 0)
                _seen = [.. (await service.ReadAllAsync(cancellationToken)).Entries];
            NamespaceChange change = Next();
            try
            {
                RecordVersion version = await service.ChangeAsync(change, cancellationToken);
                Committed.Add(new CommittedChange(version, change));
                made();
            }
            catch (NamespaceException)
            {
                Refused++;
            }
        }
    }

    private NamespaceChange Next()
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"c{number}-{_made++}");
        long time = _made;
        return random.Next(10) switch
        {
            0 or 1 => new NamespaceChange.CreateFile(
                TreePath.Combine(AnyDirectory(), name), name, random.Next(MaxSize), time),
            // Half of the directories are below the root, where the partition changes with the name.
            2 => new NamespaceChange.MakeDirectory(
                TreePath.Combine(random.Next(2) == 0 ? TreePath.Root : AnyDirectory(), name), name, time),
            3 => new NamespaceChange.Write(Any(isDirectory: false), random.Next(MaxSize), time),
            4 => new NamespaceChange.SetAttribute(
                Any(random.Next(2) == 0), "owner", random.Next(4) == 0 ? null : name, time),
            5 => new NamespaceChange.Delete(Any(isDirectory: false), false, time),
            6 => new NamespaceChange.Rename(
                Any(isDirectory: false), TreePath.Combine(AnyDirectory(), name), time),
            _ => new NamespaceChange.Rename(
                Any(isDirectory: true),
                TreePath.Combine(random.Next(2) == 0 ? TreePath.Root : AnyDirectory(), name), time),
        };
    }

    private string AnyDirectory() => random.Next(4) == 0 ? TreePath.Root : Any(isDirectory: true);

    // The root if there is none, which refuses all but new names.
    private string Any(bool isDirectory)
    {
        for (int i = 0; i < _seen.Count; i++)
        {
            KeyValuePair<string, Entry> one = _seen[random.Next(_seen.Count)];
            if (one.Value.IsDirectory == isDirectory) return one.Key;
        }

        return TreePath.Root;
    }
}
