using MessagePack;
using Tango;
using Tango.Collections;

namespace TangoService1;

/// <summary>The state of the service, the same in all its replicas.</summary>
[TangoContext("TangoService1")]
public sealed partial class ShopContext : TangoContext
{
    public partial Stock Stock { get; }

    public partial TangoDictionary<string, Order> Orders { get; }

    /// <summary>Takes the items and keeps the order, or neither.</summary>
    /// <returns>False: there is an order with this number already.</returns>
    /// <exception cref="TangoRejectedException">There are too few of the item.</exception>
    public async ValueTask<bool> PlaceAsync(string number, Order order, CancellationToken cancellationToken = default)
    {
        var placed = await RunTransactionAsync(async _ =>
        {
            if (!await Orders.TryAddAsync(number, order, cancellationToken)) return false;
            await Stock.TakeAsync(order.Item, order.Count, cancellationToken);
            return true;
        }, cancellationToken: cancellationToken);
        return placed.ThrowIfNotCommitted();
    }
}

[MessagePackObject]
public sealed record Order([property: Key(0)] string Item, [property: Key(1)] int Count);
