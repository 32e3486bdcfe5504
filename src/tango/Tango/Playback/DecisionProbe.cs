using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Tango 4.1, Failure handling, last resort: plays the versions of a commit record's read set, without views, exactly
/// up to the record, and on through others that read nothing else. A probe answers no caller and publishes no views.
/// </summary>
/// <param name="others">Commit records further on.</param>
internal sealed class DecisionProbe(
    RecordVersion commit, IReadOnlyDictionary<RecordVersion, Participants> others, OrphanWaits waits) : IProbe
{
    private static readonly LogPosition s_end = new(long.MaxValue);

    private readonly Dictionary<RecordVersion, TxOutcome.Aborted?> _decided = [];

    /// <summary>The record was met; it is decided if <see cref="IsEvaluated"/>.</summary>
    public bool IsFound { get; private set; }

    /// <summary>False, once found: what it read cannot be read by this code (R23).</summary>
    public bool IsEvaluated { get; private set; }

    /// <summary>Nothing more is played.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Waits of the playback that needs the probe: a record that the probe meets has been in the log as
    /// long.</summary>
    public OrphanWaits Waits => waits;

    /// <summary>Playback is at a commit record.</summary>
    /// <returns>True: the probe ends here, and the record is not applied.</returns>
    public bool TryEnd(RecordVersion met, bool isEvaluated, TxOutcome.Aborted? aborted)
    {
        if (met == commit) (IsFound, IsEvaluated) = (true, isEvaluated);
        else if (!others.ContainsKey(met)) return false;
        if (Planted.Is("probe-decides-all-alike") && _decided.Count > 0) aborted = _decided.Values.First();
        // A record that waits for its spills is met again.
        if (isEvaluated) _decided.TryAdd(met, aborted);
        return IsOver = !isEvaluated || _decided.Count > others.Count;
    }

    /// <summary>Decides one record.</summary>
    /// <exception cref="TangoTrimmedException">The read set's history is trimmed (R22); its hosts can still
    /// decide.</exception>
    /// <exception cref="UndecidableException">The record cannot be decided here, or not yet.</exception>
    public static async ValueTask<DecidedCommit> RunAsync(
        LogEntry entry, RecordVersion commit, PlaybackContext context, CancellationToken lifetime) =>
        (await RunAsync(entry, commit, [], context, new OrphanWaits(context.Time), lifetime))[0];

    /// <summary>As the other one, and decides of the others what can be decided without a wait.</summary>
    /// <param name="undecided">In the order of the log.</param>
    /// <returns>The record's own decision first.</returns>
    /// <inheritdoc cref="RunAsync(LogEntry, RecordVersion, PlaybackContext, CancellationToken)"/>
    public static async ValueTask<ImmutableArray<DecidedCommit>> RunAsync(
        LogEntry entry, RecordVersion commit, ImmutableArray<KeyValuePair<RecordVersion, Participants>> undecided,
        PlaybackContext context, OrphanWaits waits, CancellationToken lifetime)
    {
        var (readSet, streams) = ParticipantsOf(entry, commit.Index);
        var others = new Dictionary<RecordVersion, Participants>();
        var probe = new DecisionProbe(commit, others, waits);
        var replay = new CohortReplay(context, null, probe, lifetime);
        var added = new HashSet<ObjectId>();
        foreach (var id in readSet)
        {
            if (added.Contains(id)) continue;
            var group = await context.Directory.FindGroupAsync(id, lifetime);
            // The record stands behind the deletion, which it did not see.
            if (group.Count == 0 && context.Directory.IsDeletedBefore(id, commit.Position))
                return [new DecidedCommit(commit, RecordApplier.AbortOfDeletion(id, commit), streams)];
            // R22: the deletion may have come behind the record. All of this is released, and perhaps trimmed.
            if (group.Count == 0 && context.Directory.IsDeletedBefore(id, s_end))
                throw new TangoTrimmedException(
                    $"Object {id}, which commit record {commit} read, was deleted, and its history is released",
                    null, null);
            if (group.Count == 0)
                throw new TangoFormatException(
                    $"Commit record {commit} reads object {id}, which the directory does not know");
            added.UnionWith(group.Select(static member => member.Id));
            var cohort = new Cohort(group, static _ => null);
            // R20: not above the record, so that the cohort is played to exactly there.
            await replay.LoadAsync(cohort, commit.Position);
            replay.Playback.Add(cohort);
        }

        // R20: no more is played than the record itself needs, so that no other object's history holds it up.
        foreach (var other in undecided.Where(other => other.Value.ReadSet.TrueForAll(added.Contains)))
            others.Add(other.Key, other.Value);
        try
        {
            await replay.Playback.SyncAsync(ReadConsistency.Linearizable);
            while (await replay.Playback.PlayNextAsync())
            {
            }
        }
        catch (Exception) when (probe is { IsFound: true, IsEvaluated: true })
        {
            // The records beyond are left to the next probe.
        }
        catch (LogTrimmedException e)
        {
            throw new TangoTrimmedException(e);
        }

        if (!probe.IsFound)
            throw new TangoFormatException($"Commit record {commit} was not met in the streams of its read set");
        if (!probe.IsEvaluated) throw new UndecidableException(commit, null);
        return
        [
            new DecidedCommit(commit, probe._decided[commit], streams),
            .. others.Where(other => probe._decided.ContainsKey(other.Key)).Select(
                other => new DecidedCommit(other.Key, probe._decided[other.Key], other.Value.Streams)),
        ];
    }

    private static Participants ParticipantsOf(LogEntry entry, int index)
    {
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            EntryFormat.ReadHeader(ref reader);
            for (; index > 0; index--) reader.SkipValue();
            reader.ReadArrayHeader(RecordFormat.CommitLength);
            for (var i = 0; i < 3; i++) reader.SkipValue();
            return CommitFormat.ReadParticipants(reader);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e);
        }
    }
}

/// <summary>A commit record cannot be decided by playing what it read.</summary>
/// <param name="earlier">An earlier commit record that the probe had to wait for; it may yet be decided by others.
/// Null: this code cannot read the read set, and never will.</param>
internal sealed class UndecidableException(RecordVersion commit, Exception? earlier)
    : TangoException($"What commit record {commit} read cannot be played here", earlier)
{
    public bool IsFinal => InnerException is null;
}
