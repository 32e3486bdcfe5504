using Tango;
using Tango.Collections;
using Leased = Tango.Collections.TangoLeasedDictionary<string, byte[]>;
using Queue = Tango.Collections.TangoWorkQueue<byte[]>;

namespace Corfu.Grpc;

/// <summary>Something that a session holds, with the object in which its lease stands.</summary>
/// <param name="Renew">False: it has ended.</param>
internal sealed record Held(
    HoldingKey Key, ObjectId Object, Func<CancellationToken, ValueTask<bool>> Renew,
    Func<CancellationToken, ValueTask> End)
{
    public static Held Lock(string name, TangoLock mutex, long token) => new(
        HoldingKey.Lock(name, token), mutex.ObjectId, stop => mutex.RenewAsync(token, stop),
        async stop => await mutex.ReleaseAsync(token, stop));

    public static Held Delivery(string name, Queue queue, long item, long token) => new(
        HoldingKey.Delivery(name, item, token), queue.ObjectId, stop => queue.RenewAsync(item, token, stop),
        stop => queue.AbandonAsync(item, token, stop));

    public static Held Lease(string name, Leased entries, long lease) => new(
        HoldingKey.Lease(name, lease), entries.ObjectId, stop => entries.RenewAsync(lease, stop),
        stop => entries.EndAsync(lease, stop));

    /// <summary>Finds a holding of a caller from another session.</summary>
    /// <exception cref="TangoObjectNotFoundException">The object is gone.</exception>
    public static async Task<Held> FindAsync(
        HoldingKey holding, OpenObjects objects, CancellationToken cancellationToken) => holding.Kind switch
        {
            HoldingKind.Lock => Lock(
                holding.Object, await objects.GetAsync<TangoLock>(holding.Object, cancellationToken), holding.Number),
            HoldingKind.Delivery => Delivery(
                holding.Object, await objects.GetAsync<Queue>(holding.Object, cancellationToken), holding.Number,
                holding.Token),
            _ => Lease(
                holding.Object, await objects.GetAsync<Leased>(holding.Object, cancellationToken), holding.Number),
        };
}
