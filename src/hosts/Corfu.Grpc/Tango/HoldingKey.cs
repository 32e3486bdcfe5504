using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>The kind of a session's holding.</summary>
internal enum HoldingKind
{
    Lock,
    Delivery,
    Lease,
}

/// <summary>Names one thing that a session holds, by the number of its lease in its object.</summary>
/// <param name="Token">The token of a delivery.</param>
internal readonly record struct HoldingKey(HoldingKind Kind, string Object, long Number, long Token)
{
    public static HoldingKey Lock(string name, long fencingToken) => new(HoldingKind.Lock, name, fencingToken, 0);

    public static HoldingKey Delivery(string name, long item, long token) =>
        new(HoldingKind.Delivery, name, item, token);

    public static HoldingKey Lease(string name, long lease) => new(HoldingKind.Lease, name, lease, 0);

    /// <exception cref="RequestException">The message names no holding.</exception>
    public static HoldingKey Of(V1.Holding holding) => holding.WhatCase switch
    {
        V1.Holding.WhatOneofCase.FencingToken => Lock(holding.Object, holding.FencingToken),
        V1.Holding.WhatOneofCase.Delivery =>
            Delivery(holding.Object, holding.Delivery.Item, holding.Delivery.Token),
        V1.Holding.WhatOneofCase.Lease => Lease(holding.Object, holding.Lease),
        _ => throw new RequestException("held: a holding names a fencing_token, a delivery or a lease."),
    };

    public V1.Holding ToMessage()
    {
        var message = new V1.Holding { Object = Object };
        switch (Kind)
        {
            case HoldingKind.Lock:
                message.FencingToken = Number;
                break;
            case HoldingKind.Delivery:
                message.Delivery = new V1.Delivery { Item = Number, Token = Token };
                break;
            default:
                message.Lease = Number;
                break;
        }

        return message;
    }
}
