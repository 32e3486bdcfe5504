using System.Globalization;
using System.Text;

namespace Craq.Hosting.Memcached;

/// <summary>The operations of memcached's protocols on the objects behind a listener. The version of an object is its
/// <c>cas</c>. An outcome that is not known is told as such, never as a guess.</summary>
/// <param name="objects">As the listener reads them.</param>
internal sealed class MemcachedStore(
    ObjectStore objects, MemcachedCounters counters, TimeProvider time, ILogger logger) : IDisposable
{
    /// <summary>A retrieval holds at most the values of so many keys at once, however many a client names.</summary>
    public const int KeysAtOnce = 32;

    public const string UnknownOutcome =
        "the outcome of the write is unknown: it may have been applied, or be applied later";

    public const string Contended =
        "other clients changed the object at each attempt, and nothing was written: try again";

    // As in memcached: longer times are dates.
    private const long LongestDelay = 60 * 60 * 24 * 30;

    // Attempts of an operation that takes two steps, while other clients change the object between them.
    private const int Attempts = 8;

    private readonly DelayedFlush _flush = new(objects, time, logger);

    public IEnumerable<(string Name, string Value)> Stats => counters.Read(time);

    /// <summary>An operation was given up; its answer is an error.</summary>
    public void Failed() => counters.Failed();

    /// <param name="keys">At most <see cref="KeysAtOnce"/>.</param>
    public async ValueTask<ImmutableArray<StoredObject>> GetAsync(
        ImmutableArray<ObjectKey> keys, CancellationToken cancellationToken)
    {
        var found = await objects.GetManyAsync(keys, cancellationToken: cancellationToken);
        foreach (var one in found) counters.Got(one.IsFound);
        return found;
    }

    /// <summary>The object is read in the step that gives it the new expiry, so that the version is the one which it
    /// has then.</summary>
    public async ValueTask<(ChangeOutcome Outcome, StoredObject Found)> GetAndTouchAsync(
        ObjectKey key, long exptime, CancellationToken cancellationToken)
    {
        var (outcome, found) = await ReadAndTouchAsync(key, ExpiryOf(exptime), cancellationToken);
        // An unknown outcome is no miss.
        if (outcome == ChangeOutcome.Unknown) counters.Wrote(WriteOutcome.Unknown);
        else if (outcome == ChangeOutcome.Contended) counters.Failed();
        else counters.Got(outcome == ChangeOutcome.Done);
        return (outcome, found);
    }

    public async ValueTask<ChangeResult> ChangeAsync(ObjectChange change, CancellationToken cancellationToken)
    {
        // A counter that must have a version must be there.
        if (change.Initial is not { } initial || change.Version is not null)
            return await MutateAsync(change, cancellationToken);
        var added = new ObjectChange(MemcachedVerb.Add, change.Key, Exptime: change.Exptime,
            Value: Encoding.ASCII.GetBytes(initial.ToString(CultureInfo.InvariantCulture)));
        for (var attempt = 0; attempt < Attempts; attempt++)
        {
            var counted = await MutateAsync(change, cancellationToken);
            if (counted.Outcome != ChangeOutcome.Absent) return counted;
            var first = await MutateAsync(added, cancellationToken);
            if (first.Outcome != ChangeOutcome.Exists) return first with { Sum = initial };
        }

        counters.Failed();
        return new ChangeResult(ChangeOutcome.Contended);
    }

    /// <summary>Clears the keyspace, now or later.</summary>
    public async ValueTask<ChangeOutcome> FlushAsync(long exptime, CancellationToken cancellationToken)
    {
        var delay = ExpiryOf(exptime) is { } at ? at - time.GetUtcNow() : TimeSpan.Zero;
        if (delay > TimeSpan.Zero)
        {
            _flush.Start(delay);
            return ChangeOutcome.Done;
        }

        var result = await objects.ClearAsync(cancellationToken);
        return result.IsWritten ? ChangeOutcome.Done : ChangeOutcome.Unknown;
    }

    public void Dispose() => _flush.Dispose();

    private async ValueTask<(ChangeOutcome, StoredObject)> ReadAndTouchAsync(
        ObjectKey key, DateTimeOffset? expiry, CancellationToken cancellationToken)
    {
        try
        {
            var result = await objects.MutateAsync(
                new MutateBuilder().Read(key).Touch(key, expiry), cancellationToken);
            return result.IsWritten
                ? (ChangeOutcome.Done, result.Reads[0].At(result.Version))
                : (result.Outcome == WriteOutcome.Unknown ? ChangeOutcome.Unknown : ChangeOutcome.Absent, default);
        }
        catch (EntryTooLargeException)
        {
            return await ReadThenTouchAsync(key, expiry, cancellationToken);
        }
    }

    // A record of a read and a touch has the value twice, and a large one does not fit into it. A touch of the version
    // that was read is the same step.
    private async ValueTask<(ChangeOutcome, StoredObject)> ReadThenTouchAsync(
        ObjectKey key, DateTimeOffset? expiry, CancellationToken cancellationToken)
    {
        for (var attempt = 0; attempt < Attempts; attempt++)
        {
            var found = await objects.GetAsync(key, ReadTerms.Strong, cancellationToken);
            if (!found.IsFound) return (ChangeOutcome.Absent, default);
            var result = await objects.MutateAsync(
                new MutateBuilder().IfVersion(key, found.Version).Touch(key, expiry), cancellationToken);
            if (result.IsWritten) return (ChangeOutcome.Done, found.At(result.Version));
            if (result.Outcome == WriteOutcome.Unknown) return (ChangeOutcome.Unknown, default);
        }

        return (ChangeOutcome.Contended, default);
    }

    private async ValueTask<ChangeResult> MutateAsync(ObjectChange change, CancellationToken cancellationToken)
    {
        var result = await objects.MutateAsync(Build(change), cancellationToken);
        counters.Wrote(result.Outcome);
        return result.Outcome switch
        {
            WriteOutcome.Unknown => new ChangeResult(ChangeOutcome.Unknown),
            WriteOutcome.Mismatch => new ChangeResult(Mismatch(change, result.MismatchIndex)),
            _ => new ChangeResult(ChangeOutcome.Done, result.Version, result.Sums is [.., var sum] ? sum : 0),
        };
    }

    // The first compare says whether the object must be there, unless the operation says so by itself.
    private MutateBuilder Build(in ObjectChange change)
    {
        var (builder, key) = (new MutateBuilder(), change.Key);
        if (change.Version is { } version)
        {
            // No object has a version above these.
            var expected = new ObjectVersion((long)Math.Min(version, long.MaxValue));
            builder.IfExists(key).IfVersion(key, expected);
        }
        else if (change.Verb == MemcachedVerb.Add)
        {
            builder.IfAbsent(key);
        }
        else if (change.Verb is MemcachedVerb.Replace or MemcachedVerb.Increment or MemcachedVerb.Decrement)
        {
            builder.IfExists(key);
        }

        return change.Verb switch
        {
            MemcachedVerb.Set or MemcachedVerb.Add or MemcachedVerb.Replace =>
                builder.Put(key, change.Value, change.Flags, ExpiryOf(change.Exptime)),
            MemcachedVerb.Append => builder.Append(key, change.Value),
            MemcachedVerb.Prepend => builder.Prepend(key, change.Value),
            MemcachedVerb.Delete => builder.Delete(key),
            MemcachedVerb.Touch => builder.Touch(key, ExpiryOf(change.Exptime)),
            MemcachedVerb.Increment or MemcachedVerb.Decrement => Count(builder, change),
            _ => throw new ArgumentOutOfRangeException(nameof(change), change.Verb, "The verb changes no object."),
        };
    }

    // A delta above 2^63 takes two steps of one mutation: both wrap, or stop at 0, as one would.
    private static MutateBuilder Count(MutateBuilder builder, in ObjectChange change)
    {
        for (var left = change.Delta; ; left -= long.MaxValue)
        {
            var step = (long)Math.Min(left, long.MaxValue);
            builder.Add(change.Key, change.Verb == MemcachedVerb.Increment ? step : -step);
            if (left <= long.MaxValue) return builder;
        }
    }

    // By the order of the compares in Build.
    private static ChangeOutcome Mismatch(in ObjectChange change, int index) => (index, change.Version) switch
    {
        (0, null) when change.Verb == MemcachedVerb.Add => ChangeOutcome.Exists,
        (0, _) => ChangeOutcome.Absent,
        (1, not null) => ChangeOutcome.Exists,
        _ => ChangeOutcome.NotANumber,
    };

    // Null: never.
    private DateTimeOffset? ExpiryOf(long exptime) => exptime switch
    {
        0 => null,
        < 0 => DateTimeOffset.UnixEpoch,
        <= LongestDelay => time.GetUtcNow().AddSeconds(exptime),
        _ => DateTimeOffset.FromUnixTimeSeconds(Math.Min(exptime, DateTimeOffset.MaxValue.ToUnixTimeSeconds())),
    };
}
