using System.Collections.Immutable;
using Corfu;
using Tango.Model;

namespace Tango;

/// <summary>
/// The log's trim point and everything that holds it back, as the directory's records made them: pure, and equal
/// wherever the same records were applied. Immutable.
/// </summary>
/// <remarks>
/// Invariants, for every state that the methods make of one that has them:
/// Released &lt;= Forget of every cohort, position of every hold, and start of every retained stream;
/// Released &lt;= position of the last record applied, so that what is created later lies above it;
/// Forget &lt;= Checkpoint of a cohort that has one; Released, Forget and Checkpoint never fall.
/// </remarks>
internal sealed record TrimClaims
{
    public const int MaxHolds = 4096;
    public const int MaxStreams = 65_536;

    /// <summary>Stands for the raw entries that are in no stream: declared like a stream.</summary>
    public static readonly StreamId NoStream;

    public static TrimClaims None { get; } = new();

    /// <summary>Everything below may be trimmed.</summary>
    public LogPosition Released { get; init; }

    private readonly CohortTable _cohorts = CohortTable.Empty;

    /// <summary>By the cohort's first member.</summary>
    public ImmutableSortedDictionary<ObjectId, CohortClaim> Cohorts
    {
        get => _cohorts.Claims;
        init => _cohorts = CohortTable.Of(value);
    }

    /// <summary>The same cohorts: what needs the oldest history comes first.</summary>
    public ImmutableSortedSet<(LogPosition Forget, ObjectId Cohort)> ByForget => _cohorts.ByForget;

    private CohortTable Table
    {
        init => _cohorts = value;
    }

    public ImmutableSortedDictionary<string, HoldClaim> Holds { get; init; } =
        ImmutableSortedDictionary.Create<string, HoldClaim>(StringComparer.Ordinal);

    /// <summary>Raw streams that were declared.</summary>
    public ImmutableSortedDictionary<StreamId, StreamClaim> Streams { get; init; } =
        ImmutableSortedDictionary.Create<StreamId, StreamClaim>(
            Comparer<StreamId>.Create(static (a, b) => a.Value.CompareTo(b.Value)));

    /// <summary>Cohorts that are deleted while history from before their deletion is still there.</summary>
    public ImmutableSortedDictionary<ObjectId, DeletedCohort> Deleted { get; init; } =
        ImmutableSortedDictionary<ObjectId, DeletedCohort>.Empty;

    /// <summary>Obeyed by those who ask for a release, not by <see cref="Release"/>: it needs the log's tail and
    /// clocks.</summary>
    public Retention Retention { get; init; }

    /// <summary>Versions of holds are never given twice.</summary>
    public long NextVersion { get; init; } = 1;

    /// <summary>Nothing from here on is released. The last position there is, if nothing is claimed.</summary>
    public LogPosition Lowest
    {
        get
        {
            var lowest = ByForget.IsEmpty ? long.MaxValue : ByForget.Min.Forget.Offset;
            if (Planted.Is("release-ignores-a-claim")) return new LogPosition(lowest);
            foreach (var hold in Holds.Values) lowest = Math.Min(lowest, hold.Position.Offset);
            foreach (var stream in Streams.Values)
            {
                if (stream.RetainFrom is { } from) lowest = Math.Min(lowest, from.Offset);
            }

            foreach (var deleted in HoldersAbove(new LogPosition(lowest)))
                lowest = Math.Min(lowest, deleted.Forget.Offset);
            return new LogPosition(lowest);
        }
    }

    /// <summary>Deleted cohorts whose history is still needed, the one that was deleted last first.</summary>
    public ImmutableArray<DeletedCohort> DeletedHolders =>
        HoldersAbove((this with { Deleted = Deleted.Clear() }).Lowest);

    /// <summary>A cohort is born: its history begins at the record that creates it.</summary>
    public TrimClaims Create(ObjectId cohort, LogPosition at) =>
        this with { Table = _cohorts.Set(cohort, new CohortClaim(at, null)) };

    /// <summary>A cohort is born with a checkpoint, which stands in the log above its end.</summary>
    /// <param name="end">Not released.</param>
    /// <param name="hold">The reader that held the log from there on until now.</param>
    public TrimClaims CreateFork(ObjectId cohort, LogPosition end, string hold) => this with
    {
        Table = _cohorts.Set(cohort, new CohortClaim(end, end)),
        Holds = Holds.GetValueOrDefault(hold).Position == end ? Holds.Remove(hold) : Holds,
    };

    /// <summary>Ids never return: an id that was given and is in none of the tables is one of a cohort deleted below
    /// what is released.</summary>
    /// <param name="members">The cohort's entries, its first member's first.</param>
    public TrimClaims Delete(ImmutableArray<DirectoryEntry> members, LogPosition at) => this with
    {
        Table = _cohorts.Remove(members[0].Id),
        Deleted = Deleted.SetItem(members[0].Id, new DeletedCohort(Cohorts[members[0].Id].Forget, at, members)),
    };

    /// <summary>A checkpoint of the cohort was read back from the log. The claim rises to at most the one before it
    /// minus the span (R19): the last checkpoint but one can still be loaded.</summary>
    /// <param name="end">Everything of the cohort's streams below is in the checkpoint.</param>
    /// <param name="forget">The host needs nothing below any longer.</param>
    /// <param name="at">The position of the record.</param>
    /// <param name="lowest">The lowest position at which the checkpoint's state has a value in the log; null: it has
    /// none there.</param>
    /// <exception cref="TangoRejectedException">The claim is impossible, or below what is released.</exception>
    public TrimClaims Checkpointed(ObjectId cohort, LogPosition end, LogPosition forget, long maxSpan, LogPosition at,
        LogPosition? lowest = null)
    {
        if (!Cohorts.TryGetValue(cohort, out var known))
            throw new TangoRejectedException($"Object {cohort} is not the first member of a cohort that exists");
        // Another host's is newer.
        if (known.Checkpoint is { } newest && end <= newest) return this;
        if (end > at || forget > end || end < known.Forget)
            throw new TangoRejectedException(
                $"A checkpoint recorded at {at.Offset} of a cohort that needs {known.Forget.Offset} cannot end at "
                + $"{end.Offset} and need nothing below {forget.Offset}");
        RequireReleasedBelow(forget);
        var loadable = known.Checkpoint is { } before && before.Offset > maxSpan
            ? new LogPosition(before.Offset - maxSpan)
            : known.Forget;
        // R22: Apply gets a place only from its own call, so that a state at P >= E, E the end of the checkpoint
        // before, has no place but those of the state at E and those of calls that took effect at or above E. The
        // former are >= known.Lowest. The latter stand at or above E - maxSpan: a spilled call stands below its
        // commit record, by at most the span (R19). The claim is the minimum of both, so that all places of every
        // host's view at or above E are readable. A reader that lags behind E and finds its place trimmed reads the
        // state again. This checkpoint's own lowest place follows from these two; it keeps the claim below what a
        // state holds that broke the rule, for as long as it is not released.
        var held = LogPosition.Min(lowest ?? end, known.Lowest ?? end);
        if (Planted.Is("forget-ignores-live-places")) held = end;
        var risen = LogPosition.Max(known.Forget, LogPosition.Min(LogPosition.Min(forget, loadable), held));
        return this with { Table = _cohorts.Set(cohort, new CohortClaim(risen, end, lowest)) };
    }

    /// <param name="at">The position of the record: what is created later must not be below what is released.</param>
    public TrimClaims Release(LogPosition asked, LogPosition at)
    {
        var allowed = LogPosition.Min(LogPosition.Min(asked, Lowest), at);
        if (allowed <= Released) return this;
        return this with
        {
            Released = new LogPosition(allowed.Offset),
            Deleted = Deleted.RemoveRange(Deleted.Where(d => d.Value.At < allowed).Select(static d => d.Key)),
        };
    }

    /// <summary>A reader or a feed registers, moves on, or renews its lease.</summary>
    /// <exception cref="TangoRejectedException">The position to read from is released, or too many readers have
    /// registered.</exception>
    public (TrimClaims Claims, long Version) Hold(string name, LogPosition position, TimeSpan lease)
    {
        if (!Planted.Is("claim-below-released-accepted")) RequireReleasedBelow(position);
        if (Holds.Count >= MaxHolds && !Holds.ContainsKey(name))
            throw new TangoRejectedException($"{MaxHolds} readers have registered already");
        var hold = new HoldClaim(position, NextVersion, lease);
        return (this with { Holds = Holds.SetItem(name, hold), NextVersion = NextVersion + 1 }, hold.Version);
    }

    /// <summary>The lease of that version was not renewed, or its holder lets go. A renewed one has another
    /// version.</summary>
    public TrimClaims Expire(string name, long version) =>
        Holds.TryGetValue(name, out var hold) && hold.Version == version
            ? this with { Holds = Holds.Remove(name) }
            : this;

    /// <exception cref="TangoRejectedException">The stream is an object's, there are too many, or what is to be
    /// retained is released.</exception>
    public TrimClaims Declare(StreamId stream, StreamClaim claim)
    {
        if (stream.Value < StreamId.FirstRawValue && stream != NoStream)
            throw new TangoRejectedException($"Stream {stream} is no raw stream");
        if (claim.RetainFrom is { } from) RequireReleasedBelow(from);
        if (Streams.Count >= MaxStreams && !Streams.ContainsKey(stream))
            throw new TangoRejectedException($"{MaxStreams} streams are declared already");
        return this with { Streams = Streams.SetItem(stream, claim) };
    }

    /// <summary>A commit record that read a deleted cohort may be undecided until all others, deleted ones too, have
    /// forgotten what was before the deletion; what decides it is the cohort's history (R20).</summary>
    private ImmutableArray<DeletedCohort> HoldersAbove(LogPosition lowest)
    {
        var holders = ImmutableArray.CreateBuilder<DeletedCohort>();
        foreach (var deleted in Deleted.Values.OrderByDescending(static deleted => deleted.At))
        {
            if (deleted.At < lowest) break;
            holders.Add(deleted);
            lowest = LogPosition.Min(lowest, deleted.Forget);
        }

        return holders.DrainToImmutable();
    }

    private void RequireReleasedBelow(LogPosition claim)
    {
        if (claim < Released)
            throw new TangoRejectedException(
                $"History below {Released.Offset} is released, so that nothing from {claim.Offset} on can be kept");
    }
}

/// <summary>The claims of cohorts, by cohort and by what they need.</summary>
internal sealed record CohortTable(
    ImmutableSortedDictionary<ObjectId, CohortClaim> Claims,
    ImmutableSortedSet<(LogPosition Forget, ObjectId Cohort)> ByForget)
{
    public static CohortTable Empty { get; } = new(ImmutableSortedDictionary<ObjectId, CohortClaim>.Empty, []);

    public static CohortTable Of(ImmutableSortedDictionary<ObjectId, CohortClaim> claims) =>
        new(claims, [.. claims.Select(static cohort => (cohort.Value.Forget, cohort.Key))]);

    public CohortTable Set(ObjectId cohort, CohortClaim claim)
    {
        var without = Claims.TryGetValue(cohort, out var known) ? ByForget.Remove((known.Forget, cohort)) : ByForget;
        return new CohortTable(Claims.SetItem(cohort, claim), without.Add((claim.Forget, cohort)));
    }

    public CohortTable Remove(ObjectId cohort) =>
        Claims.TryGetValue(cohort, out var known)
            ? new CohortTable(Claims.Remove(cohort), ByForget.Remove((known.Forget, cohort)))
            : this;
}

/// <summary>History of the log that one cohort, an object or a group, still needs.</summary>
/// <param name="Forget">Nothing below is needed.</param>
/// <param name="Checkpoint">End of the newest checkpoint that counts; null: there is none.</param>
/// <param name="Lowest">The lowest position at which that one's state has a value in the log
/// (<see cref="ITangoIndex"/>); null: none.</param>
internal readonly record struct CohortClaim(LogPosition Forget, LogPosition? Checkpoint, LogPosition? Lowest = null)
{
    /// <summary>Another checkpoint alone does not let the claim rise.</summary>
    public bool IsHeldByValues => Lowest <= Forget;
}

/// <summary>A cohort that was deleted by the record at <paramref name="At"/>.</summary>
/// <param name="Forget">The cohort still needed the history from here on then.</param>
internal readonly record struct DeletedCohort(
    LogPosition Forget, LogPosition At, ImmutableArray<DirectoryEntry> Members);

/// <summary>A reader's claim on the history from a position on.</summary>
/// <param name="Version">Another one with every renewal.</param>
/// <param name="Lease">How long an observer waits for a renewal, on a clock of its own, before it lets the claim
/// expire.</param>
internal readonly record struct HoldClaim(LogPosition Position, long Version, TimeSpan Lease);

/// <summary>Declaration about a raw stream.</summary>
/// <param name="Name">For people; null if only its number is known.</param>
/// <param name="RetainFrom">Null: its entries need not be kept.</param>
internal readonly record struct StreamClaim(string? Name, LogPosition? RetainFrom);

/// <summary>History that a user wants kept, whether it is needed or not.</summary>
/// <param name="Positions">Number of positions below the tail.</param>
/// <param name="Time">Entries younger than this, by their writers' clocks.</param>
internal readonly record struct Retention(long? Positions, TimeSpan? Time);
