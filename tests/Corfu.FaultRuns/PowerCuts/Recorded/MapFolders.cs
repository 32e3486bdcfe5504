using Corfu.Conformance;

namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>
/// The folder of the address map at moments of a life. It is a shortcut that may be lost at any time, so any older
/// moment goes with any newer log; what may not happen is that it is used where the log does not bear it out (R3).
/// </summary>
internal sealed class MapFolders(string folder, string copies)
{
    private const string CheckpointPattern = "checkpoint.*";

    private readonly List<(int Event, string Path, bool Published)> _moments = [];
    private string _known = "";

    public string Live => folder;

    public int Checkpoints { get; private set; }

    /// <summary>Copies the folder where a checkpoint has come since the last call, or where the caller wants
    /// it.</summary>
    public void Look(RecordingFiles files, bool anyway)
    {
        if (!Directory.Exists(folder)) return;
        var names = string.Join(' ', Directory.GetFiles(folder, CheckpointPattern).Order(StringComparer.Ordinal));
        var published = names != _known;
        if (!published && !anyway) return;
        if (published) Checkpoints++;
        _known = names;
        var copy = Path.Combine(copies, $"moment.{_moments.Count}");
        Copy(folder, copy);
        // The log as it is now, or later.
        _moments.Add((files.EventCount, copy, published));
    }

    /// <summary>
    /// A state of the folder that a power cut after so many events may leave: nothing, the durable files of the last or
    /// an earlier checkpoint, everything, or everything with the bytes that were not yet durable torn.
    /// <see cref="MapState.Make"/> makes it.
    /// </summary>
    public MapState After(int events, Random random)
    {
        var possible = _moments.FindAll(m => m.Event <= events);
        var published = possible.FindAll(m => m.Published);
        switch (random.Next(5))
        {
            case 0 when possible.Count > 0:
                return new MapState("kept", possible[^1].Path, null, 0);
            case 1 or 2 when published.Count > 0:
                return new MapState("as of the last checkpoint", published[^1].Path, null, 0);
            case 3 when published.Count > 1:
                return new MapState("as of an older checkpoint", published[^2].Path, null, 0);
            case 4 when possible.Count > 0:
                return new MapState("torn", possible[^1].Path, published.Count > 0 ? published[^1].Path : null,
                    random.Next(1, int.MaxValue));
            default:
                return new MapState("gone", null, null, 0);
        }
    }

    // Checkpoints before what they name: a copy made beside the writer may have the files of one without itself, never
    // the other way round.
    public static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var path in Directory.GetFiles(from, CheckpointPattern))
            TryCopy(path, Path.Combine(to, Path.GetFileName(path)));
        foreach (var path in Directory.GetFiles(from, "*", SearchOption.AllDirectories))
        {
            var target = Path.Combine(to, Path.GetRelativePath(from, path));
            if (File.Exists(target)) continue;
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            if (!Path.GetFileName(path).StartsWith("checkpoint.", StringComparison.Ordinal)) TryCopy(path, target);
        }
    }

    private static void TryCopy(string from, string to)
    {
        try
        {
            File.Copy(from, to);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            // Deleted meanwhile.
        }
    }
}
