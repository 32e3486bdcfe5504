namespace Craq.Client.Tests;

/// <summary>A client before scripted nodes 1 to 3, which hold the chain <c>orders</c> in epoch 5.</summary>
internal sealed class Setup : IAsyncDisposable
{
    public static readonly ChainId Orders = ChainId.FromName("orders");
    public static readonly ObjectVersion Mark = new((5L << 40) | 10);

    public Setup(CraqClientOptions? options = null, ChainView? view = null)
    {
        View = view ?? FakeNodes.View(Orders, 5, (1, "east"), (2, "east"), (3, "west"));
        for (var node = 1; node <= 3; node++) Nodes.On(node, Answer);
        Client = new CraqClient([FakeNodes.Address(1)], Nodes, new JumpingTime(1_000_000), new SeededEntropy(1),
            options);
        Chain = Client.Chain("orders");
    }

    public FakeNodes Nodes { get; } = new();

    public CraqClient Client { get; }

    public CraqChain Chain { get; }

    public ChainView View { get; set; }

    public static ObjectVersion Version(long counter) => new((5L << 40) | counter);

    public static MutateResponse Written(long version = 11) => new(Status.Ok, new Epoch(5))
    {
        Version = Version(version),
        Mark = Version(version),
    };

    public static MutateResponse Refused(Status status, ChainView? view = null) =>
        new(status, new Epoch(5)) { View = view };

    public static MutateResponse Mismatch(int index) =>
        new(CraqStatus.Mismatch, new Epoch(5)) { Index = index, Version = Version(4), Mark = Mark };

    public static ReadObjectsResponse Found(ReadObjectsRequest request, ObjectVersion? mark = null) =>
        new(Status.Ok, request.Epoch)
        {
            Mark = mark ?? Mark,
            Objects = [.. request.Keys.Select(key =>
                new ObjectResult(Status.Ok, Version(3), false, 7, 0, key.Bytes.Length, key.Bytes))],
        };

    public ValueTask DisposeAsync() => Client.DisposeAsync();

    private Response? Answer(Request request) => request switch
    {
        ChainsRequest => new ChainsResponse(Status.Ok, View.Config.Epoch) { Views = [View] },
        ReadObjectsRequest read => Found(read),
        MutateRequest => Written(),
        _ => null,
    };
}
