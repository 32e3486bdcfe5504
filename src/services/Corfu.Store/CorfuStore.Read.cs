using System.Runtime.CompilerServices;
using Corfu.Store.State;
using Corfu.Store.Values;
using Corfu.Store.Writing;

namespace Corfu.Store;

public sealed partial class CorfuStore
{
    // Keys whose values are read at once.
    private const int ScanPage = 256;

    /// <returns>Null: there is no such key.</returns>
    /// <exception cref="StoreCompactedException">The revision that was asked for is compacted.</exception>
    /// <exception cref="StoreRevisionAheadException">The store has not come to it.</exception>
    /// <exception cref="StoreValueLostException">The log has lost the value.</exception>
    public async ValueTask<StoreEntry?> GetAsync(
        StoreKey key, ReadAs at = default, CancellationToken cancellationToken = default) =>
        (await GetManyAsync([key], at, cancellationToken)).Entries is [var entry] ? entry : null;

    /// <summary>Keys that are there, all of one revision, with one read of the log for the values (the multi-get of
    /// TOCS'13 4.4).</summary>
    // K5: all places come from one view. Else a is of one revision and b of another.
    public ValueTask<StoreEntries> GetManyAsync(
        ImmutableArray<StoreKey> keys, ReadAs at = default, CancellationToken cancellationToken = default) =>
        ReadAsync(at, (state, valueOf) =>
        {
            var entries = ImmutableArray.CreateBuilder<StoreEntry>(keys.Length);
            foreach (var key in keys)
            {
                if (state.Table.Find(key, at.Revision ?? long.MaxValue) is { } version)
                    entries.Add(version.ToEntry(key, valueOf(key, version)));
            }

            return new StoreEntries(state.Revision, entries.DrainToImmutable(), entries.Count);
        }, cancellationToken);

    /// <summary>The keys of a range in order, all of one revision. Takes memory for all of them; see
    /// <see cref="RangeOptions.Limit"/> and <see cref="ScanAsync"/>.</summary>
    public ValueTask<StoreEntries> RangeAsync(StoreRange range, RangeOptions? options = null, ReadAs at = default,
        CancellationToken cancellationToken = default) =>
        ReadAsync(at, (state, valueOf) => TransactionAnswers.Page(
            state.Table, range, options ?? RangeOptions.Default, at.Revision ?? long.MaxValue, state.Revision,
            valueOf), cancellationToken);

    /// <summary>The keys of a range in order, all of one revision, however many.</summary>
    /// <exception cref="StoreCompactedException">The revision was compacted meanwhile, and a value is trimmed: pin it
    /// before a scan that takes long.</exception>
    public async IAsyncEnumerable<StoreEntry> ScanAsync(StoreRange range, ReadAs at = default,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var state = await StateAsync(at, cancellationToken);
        // The entries told so far are of this revision: those of a newer one cannot follow them.
        var revision = at.Revision ?? state.Revision;
        foreach (var keys in state.Table.Range(range, revision).Select(static one => one.Key).Chunk(ScanPage))
        {
            (StoreKey Key, StoreVersion Version)[] page;
            Dictionary<ValuePlace, ReadOnlyMemory<byte>>? values = null;
            for (page = PageOf(state); values is null;)
            {
                try
                {
                    values = await ValuesAsync(page, cancellationToken);
                }
                catch (ValueTrimmedException)
                {
                    state = await StateAsync(default, cancellationToken);
                    if (!state.CanRead(revision)) throw new StoreCompactedException(revision, state.Oldest);
                    // Moved meanwhile, if the newer state has other places; else it is lost (K14).
                    var newer = PageOf(state);
                    if (newer.SequenceEqual(page)) throw await LostAsync([.. page], cancellationToken);
                    page = newer;
                }
            }

            foreach (var (key, version) in page) yield return version.ToEntry(key, values[version.Place]);

            (StoreKey Key, StoreVersion Version)[] PageOf(StoreState from) =>
                [.. keys.Select(key => (key, from.Table.Find(key, revision)!))];
        }
    }

    /// <summary>Evaluates a read on one state, and reads the values that it asks for. If one is trimmed, all is read
    /// again from a newer state (K5).</summary>
    /// <param name="build">Called several times, and asks for the same values whatever they are: at first all of them
    /// are empty.</param>
    private async ValueTask<T> ReadAsync<T>(
        ReadAs at, Func<StoreState, ValueOf, T> build, CancellationToken cancellationToken)
    {
        List<(StoreKey Key, StoreVersion Version)>? trimmed = null;
        for (var state = await StateAsync(at, cancellationToken); ;)
        {
            var wanted = new List<(StoreKey Key, StoreVersion Version)>();
            var found = build(state, (key, version) =>
            {
                wanted.Add((key, version));
                return default;
            });
            if (wanted.Count == 0) return found;
            // K14: the newest state names what is trimmed. Else the loss stays silent.
            if (trimmed is not null && trimmed.SequenceEqual(wanted))
                throw await LostAsync(wanted, cancellationToken);
            try
            {
                var values = await ValuesAsync(wanted, cancellationToken);
                if (Planted.Is("mixed-views"))
                    return build(await StateAsync(default, cancellationToken),
                        (_, version) => values.GetValueOrDefault(version.Place));
                return build(state, (_, version) => values[version.Place]);
            }
            catch (ValueTrimmedException)
            {
                trimmed = wanted;
                state = await StateAsync(at.Revision is { } revision ? ReadAs.At(revision) : default,
                    cancellationToken);
            }
        }
    }

    private async ValueTask<Dictionary<ValuePlace, ReadOnlyMemory<byte>>> ValuesAsync(
        IReadOnlyCollection<(StoreKey Key, StoreVersion Version)> wanted, CancellationToken cancellationToken)
    {
        ValuePlace[] places = [.. wanted.Select(static one => one.Version.Place).Distinct()];
        var values = await _values.ReadAsync(places, cancellationToken);
        var byPlace = new Dictionary<ValuePlace, ReadOnlyMemory<byte>>(places.Length);
        for (var i = 0; i < places.Length; i++) byPlace.Add(places[i], values[i]);
        return byPlace;
    }

    private async ValueTask<StoreException> LostAsync(
        List<(StoreKey Key, StoreVersion Version)> wanted, CancellationToken cancellationToken)
    {
        foreach (var (key, version) in wanted)
        {
            try
            {
                await _values.ReadAsync([version.Place], cancellationToken);
            }
            catch (ValueTrimmedException)
            {
                return new StoreValueLostException(key, version.Revision, new LogPosition(version.Place.Position));
            }
        }

        return new StoreException("Values were trimmed, and are there again.");
    }
}
