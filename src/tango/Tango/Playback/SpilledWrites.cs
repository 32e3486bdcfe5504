using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// R19: the spilled writes of the commit record that playback has reached, read by position. Nothing is kept of spills
/// before that, so that those of dead clients cost nothing and no checkpoint names them.
/// </summary>
internal sealed class SpilledWrites(ICorfuLog log)
{
    private RecordVersion? _commit;
    private ImmutableArray<(RecordVersion Spill, ReadOnlyMemory<byte> Writes)> _writes = [];
    private TangoFormatException? _unreadable;

    public bool IsFetched(RecordVersion commit) => _commit == commit;

    /// <summary>Arrays of writes, an array for each spill that was asked for, in the list's order.</summary>
    /// <exception cref="TangoFormatException">A record that was named has no spilled writes (R23).</exception>
    public ImmutableArray<(RecordVersion Spill, ReadOnlyMemory<byte> Writes)> Of(RecordVersion commit)
    {
        if (_commit != commit) return [];
        return _unreadable is null ? _writes : throw _unreadable;
    }

    /// <summary>Nothing is kept once the commit record is applied.</summary>
    public void Clear() => (_commit, _writes, _unreadable) = (null, [], null);

    /// <exception cref="LogTrimmedException">R22: the commit record is near enough, so that a claim was too
    /// high.</exception>
    /// <exception cref="PageCorruptException">No good copy was found; it may be tried again.</exception>
    public async ValueTask FetchAsync(
        RecordVersion commit, IReadOnlyList<RecordVersion> spills, CancellationToken cancellationToken)
    {
        var positions = spills.Select(static spill => spill.Position).ToImmutableArray();
        var results = await log.ReadManyAsync(positions, cancellationToken: cancellationToken);
        (_unreadable, _writes) = (null, []);
        try
        {
            _writes = [.. results.Zip(spills, static (result, spill) => (spill, WritesOf(result, spill.Index)))];
        }
        catch (Exception e) when (e is TangoLevelException || StrictMessagePack.IsDamage(e))
        {
            _unreadable = TangoFormatException.Of(e);
        }

        _commit = commit;
    }

    internal static ReadOnlyMemory<byte> WritesOf(LogReadResult result, int index) => result.State switch
    {
        PageState.Data => SpillFormat.ReadWrites(result.Entry!, index),
        PageState.Trimmed => throw new LogTrimmedException($"Playing the spill at {result.Position}"),
        // No state of the log, but of what could be read of it now: other hosts may have read the writes.
        PageState.Corrupt => throw new PageCorruptException($"Playing the spill at {result.Position}"),
        _ => throw new TangoFormatException(
            $"A commit record names {result.Position} as a spill, which is {result.State}"),
    };
}
