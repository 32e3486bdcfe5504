namespace Corfu.FaultRuns.Volumes.Judging;

/// <summary>A write to blocks that follow each other, or their discard.</summary>
/// <param name="Number">Counts the writes of all lives; rises.</param>
public readonly record struct VolumeWrite(long Number, int First, int Count, bool IsClear);

/// <summary>Content that a mount of the volume has found, and its calls, by its history.</summary>
public sealed class VolumeLife
{
    private readonly SortedDictionary<long, VolumeWrite> _writes = [];
    private readonly HashSet<long> _acknowledged = [];
    private readonly Dictionary<int, long> _found = [];
    private readonly List<string> _wrong = [];
    private readonly List<string> _unexpected = [];

    /// <summary>The blocks as the mount found them: the number of the write that each one is of.</summary>
    public IReadOnlyDictionary<int, long> Found => _found;

    /// <summary>The volume was mounted and read whole.</summary>
    public bool IsMounted { get; private set; }

    /// <summary>In the order of the calls, without those that were refused before they had a place.</summary>
    public IReadOnlyCollection<VolumeWrite> Writes => _writes.Values;

    public IReadOnlySet<long> Acknowledged => _acknowledged;

    public long Reads { get; private set; }

    /// <summary>Reads of blocks that no state of the volume had at their call.</summary>
    public IReadOnlyList<string> Wrong => _wrong;

    public IReadOnlyList<string> Unexpected => _unexpected;

    /// <summary>Lines of a history; a kill may tear the last one.</summary>
    public static VolumeLife Of(string text)
    {
        var life = new VolumeLife();
        foreach (var line in text[..(text.LastIndexOf('\n') + 1)].Split('\n', StringSplitOptions.RemoveEmptyEntries))
            life.Take(line.Split(' '), line);
        return life;
    }

    private void Take(string[] words, string line)
    {
        switch (words[0])
        {
            case "found":
                _found[int.Parse(words[1])] = long.Parse(words[2]);
                break;
            case "mounted":
                IsMounted = true;
                break;
            case "write" or "clear":
                var number = long.Parse(words[1]);
                _writes[number] = new VolumeWrite(
                    number, int.Parse(words[2]), int.Parse(words[3]), words[0] == "clear");
                break;
            case "done":
                _acknowledged.Add(long.Parse(words[1]));
                break;
            case "refused":
                _writes.Remove(long.Parse(words[1]));
                break;
            case "reads":
                Reads = long.Parse(words[1]);
                break;
            case "wrong":
                _wrong.Add(line);
                break;
            case "unexpected":
                _unexpected.Add(line);
                break;
        }
    }
}
