using Corfu.Agent;
using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Reading;

/// <summary>The epochs of a cluster with what changed in each, and how long appends stood. What was decided does not
/// change, so it is read once.</summary>
internal sealed class EpochReader(LogAccess access)
{
    public const int Shown = 50;

    // Enough to meet an entry on each side of a new epoch's start, junk and holes included.
    private const int Around = 12;

    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(5);

    private readonly SemaphoreSlim _turn = new(1);

    // Guarded by _turn.
    private ImmutableSortedDictionary<long, Projection> _known = ImmutableSortedDictionary<long, Projection>.Empty;
    // Null: there is no entry on both sides, and there will be none.
    private ImmutableDictionary<long, Standstill?> _standstills = ImmutableDictionary<long, Standstill?>.Empty;
    private DateTimeOffset _readAt;

    /// <summary>The stories that were read last.</summary>
    public ImmutableArray<EpochStory> Known { get; private set; } = [];

    public async Task<ImmutableArray<EpochStory>> ReadAsync(
        ClusterPicture picture, CancellationToken cancellationToken)
    {
        if (picture.Projection is not { } newest) return [];
        await _turn.WaitAsync(cancellationToken);
        try
        {
            // The newest epoch waits for its first entry; all else is told once.
            if (Known is [var first, ..] && first.Projection.Epoch >= newest.Epoch
                && (first.Standstill is not null || picture.At - _readAt < s_interval)) return Known;
            var missing = newest.Epoch.Value - (_known.IsEmpty ? 0 : _known.Keys.Last());
            if (missing > 0)
            {
                // The oldest epoch shown is compared with the one before.
                var count = (int)Math.Min(missing, Shown + 1);
                var read = await access.Client.Cluster.ReadHistoryAsync(newest.Epoch, count, cancellationToken);
                _known = _known.SetItems(read.Select(static epoch => KeyValuePair.Create(epoch.Epoch.Value, epoch)));
            }

            var shown = _known.Values.Reverse().Take(Shown).ToList();
            foreach (var epoch in shown)
                await ReadStandstillAsync(epoch, epoch.Epoch == newest.Epoch, cancellationToken);
            _readAt = picture.At;
            return Known = [.. shown.Select(StoryOf)];
        }
        finally
        {
            _turn.Release();
        }
    }

    private EpochStory StoryOf(Projection epoch)
    {
        var before = _known.GetValueOrDefault(epoch.Epoch.Value - 1);
        var isParsed = ReconfigurationReason.TryParse(epoch.Reason, out var reason);
        return new EpochStory(
            epoch, isParsed ? reason.By : null, isParsed && reason.IsAutomatic, reason.Text,
            before is null ? [] : EpochDifference.Of(before, epoch),
            _standstills.GetValueOrDefault(epoch.Epoch.Value));
    }

    private async Task ReadStandstillAsync(Projection epoch, bool isNewest, CancellationToken cancellationToken)
    {
        if (_standstills.ContainsKey(epoch.Epoch.Value) || epoch.Start.Offset == 0) return;
        var first = Math.Max(0, epoch.Start.Offset - Around);
        var until = epoch.Start.Offset + Around;
        if (_known.GetValueOrDefault(epoch.Epoch.Value + 1) is { } next) until = Math.Min(until, next.Start.Offset);
        ImmutableArray<LogPosition> wanted =
            [.. Enumerable.Range(0, (int)(until - first)).Select(i => new LogPosition(first + i))];
        var read = await access.Client.ReadManyAsync(
            wanted, ReadDetail.Headers, ReadMode.Observe, cancellationToken);
        var entries = read.Where(static result => result.IsData).Select(static result => result.Entry!).ToList();
        var last = entries.Where(entry => entry.Position < epoch.Start)
            .Select(static entry => (DateTimeOffset?)entry.WriterTime).Max();
        var after = entries.Where(entry => entry.Position >= epoch.Start)
            .Select(static entry => (DateTimeOffset?)entry.WriterTime).Min();
        if (last is { } from && after is { } to && to >= from)
            _standstills = _standstills.Add(epoch.Epoch.Value, new Standstill(from, epoch.ProposedAt, to));
        else if (!isNewest)
            _standstills = _standstills.Add(epoch.Epoch.Value, null);
    }
}

/// <summary>An epoch with its reason and its changes.</summary>
/// <param name="By">An agent's endpoint or a tool; null: the reason names none, as that of a client's renewal.</param>
public sealed record EpochStory(
    Projection Projection, string? By, bool IsAutomatic, string Why, ImmutableArray<string> Changes,
    Standstill? Standstill);

/// <summary>The last entry before an epoch and the first one in it, by their writers' clocks.</summary>
public sealed record Standstill(DateTimeOffset Last, DateTimeOffset? Proposed, DateTimeOffset First)
{
    public TimeSpan Whole => First - Last;

    /// <summary>Until the proposal: noticing, agreeing, sealing. Null where the clocks disagree.</summary>
    public TimeSpan? UntilProposed => Proposed >= Last && Proposed <= First ? Proposed - Last : null;

    /// <summary>From the proposal on: deciding, installing, the first append.</summary>
    public TimeSpan? AfterProposed => UntilProposed is null ? null : First - Proposed;
}
