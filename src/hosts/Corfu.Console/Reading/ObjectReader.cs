using Tango;

namespace Corfu.WebConsole.Reading;

/// <summary>The objects of the log, what keeps the log from being trimmed, and contents at past positions.</summary>
internal sealed class ObjectReader(LogAccess access, TimeProvider time)
{
    private const int KeptContents = 32;

    private static readonly TimeSpan s_fresh = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(4);

    private readonly SemaphoreSlim _turn = new(1);

    // Guarded by _turn; contents of a past position do not change, oldest first.
    private readonly List<(string Name, long At, ObjectContents Contents)> _contents = [];
    private DirectoryPicture _picture = DirectoryPicture.Empty;

    /// <summary>Never fails: what went wrong stands in the result, beside what was known before.</summary>
    public async Task<DirectoryPicture> LookAsync(CancellationToken cancellationToken)
    {
        using var limit = Limit(cancellationToken);
        try
        {
            await _turn.WaitAsync(limit.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return _picture with { Problem = "The log did not answer in time." };
        }

        try
        {
            if (time.GetUtcNow() - _picture.At >= s_fresh) _picture = await ReadAsync(limit.Token);
        }
        catch (Exception e) when (IsTrouble(e, cancellationToken))
        {
            _picture = _picture with { Problem = Explain(e) };
        }
        finally
        {
            _turn.Release();
        }

        return _picture;
    }

    /// <summary>An object as it was when everything below a position was applied.</summary>
    public async Task<ObjectContents> OpenAsync(string name, long at, CancellationToken cancellationToken)
    {
        using var limit = Limit(cancellationToken);
        try
        {
            await _turn.WaitAsync(limit.Token);
            try
            {
                var known = _contents.FindIndex(one => one.Name == name && one.At == at);
                if (known >= 0) return _contents[known].Contents;
                var history = await access.Runtime.History.OpenAsync(new LogPosition(at), limit.Token);
                if (history.Objects.FirstOrDefault(entry => entry.Name == name) is not { } entry)
                    return ObjectContents.None($"There was no object of this name at {at}.");
                var contents = await TypedContents.ReadAsync(history, entry, limit.Token);
                if (_contents.Count == KeptContents) _contents.RemoveAt(0);
                _contents.Add((name, at, contents));
                return contents;
            }
            finally
            {
                _turn.Release();
            }
        }
        catch (Exception e) when (IsTrouble(e, cancellationToken))
        {
            return ObjectContents.None(Explain(e));
        }
    }

    private async Task<DirectoryPicture> ReadAsync(CancellationToken stop)
    {
        var runtime = access.Runtime;
        var entries = await runtime.Directory.ListAsync(stop);
        var trim = await runtime.Log.ReadTrimPointAsync(stop);
        var extent = await access.Client.Cluster.FindExtentAsync(stop);
        return new DirectoryPicture(
            entries, trim, extent.TrimMark.Offset, await SinceAsync(trim, stop), time.GetUtcNow(), null);
    }

    // By the clock of the entry's writer; the claim may lie at a hole.
    private async Task<DateTimeOffset?> SinceAsync(TangoTrimPoint trim, CancellationToken stop)
    {
        if (trim.Claims.IsEmpty) return null;
        ImmutableArray<LogPosition> looked = [.. Enumerable.Range(0, 8).Select(i => trim.Claims[0].Position + i)];
        var results = await access.Client.ReadManyAsync(looked, ReadDetail.Headers, ReadMode.Observe, stop);
        return results.Where(static result => result.IsData).Select(static result => result.Entry?.WriterTime)
            .FirstOrDefault();
    }

    private static CancellationTokenSource Limit(CancellationToken cancellationToken)
    {
        var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(s_patience);
        return limit;
    }

    private static bool IsTrouble(Exception e, CancellationToken cancellationToken) =>
        e is CorfuException or TangoException or ArgumentOutOfRangeException
        || (e is OperationCanceledException && !cancellationToken.IsCancellationRequested);

    private static string Explain(Exception e) => e is OperationCanceledException
        ? "The log did not answer in time, or holds more here than a page may read: 2 MiB a second."
        : e.Message.Split(" (Parameter", 2)[0];
}

/// <summary>The directory, and the claims on the log.</summary>
/// <param name="Trim">Null before the first answer.</param>
/// <param name="PinnedSince">When the entry at the lowest claim was written.</param>
/// <param name="Problem">Why there is nothing newer; null: there is.</param>
public sealed record DirectoryPicture(
    ImmutableArray<DirectoryEntry> Objects, TangoTrimPoint? Trim, long TrimMark, DateTimeOffset? PinnedSince,
    DateTimeOffset At, string? Problem)
{
    public static DirectoryPicture Empty { get; } = new([], null, 0, null, DateTimeOffset.MinValue, null);

    public string NameOf(ulong id) => id == 1
        ? "the directory"
        : Objects.FirstOrDefault(entry => entry.Id.Value == id)?.Name ?? $"object {id}";

    /// <summary>Empty for an object that the directory does not have.</summary>
    public string TypeOf(ulong id) => Objects.FirstOrDefault(entry => entry.Id.Value == id)?.TypeName ?? "";

    /// <summary>The claim of an object, or of its group's first member.</summary>
    public TangoClaim? ClaimOf(DirectoryEntry entry)
    {
        var holder = entry.Group is null
            ? entry
            : Objects.Where(other => other.Group == entry.Group).MinBy(static other => other.Id.Value) ?? entry;
        return Trim?.Claims.FirstOrDefault(
            claim => claim.Kind == TangoClaimKind.Object && claim.Name == holder.Name);
    }
}

/// <summary>An object's state, as a table.</summary>
/// <param name="Count">Rows that there are; fewer may be shown.</param>
/// <param name="Problem">Why there is no table; null: there is.</param>
public sealed record ObjectContents(
    ImmutableArray<string> Columns, ImmutableArray<ContentRow> Rows, long Count, string? Problem)
{
    public static ObjectContents None(string problem) => new([], [], 0, problem);
}

/// <param name="Key">The encoded key, to find the record that changed it; null: it has none.</param>
public sealed record ContentRow(ImmutableArray<string> Cells, byte[]? Key);
