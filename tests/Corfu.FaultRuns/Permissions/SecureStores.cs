using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Craq.Hosting;
using Salus.Hosting;
using Salus.Protocol;
using CraqSamples = Craq.Protocol.Tests.SampleMessages;
using SalusSamples = Salus.Protocol.Tests.SampleMessages;

namespace Corfu.FaultRuns.Permissions;

/// <summary>A node of CRAQ and one of Salus beside a log with TLS, and a sample of each message for the role that
/// takes it. No chain and no region of the samples exists: what is allowed is answered, and changes nothing.</summary>
internal sealed class SecureStores : IAsyncDisposable
{
    private readonly EmbeddedCraq _craq;
    private readonly EmbeddedSalus _salus;

    private SecureStores(EmbeddedCraq craq, EmbeddedSalus salus) => (_craq, _salus) = (craq, salus);

    public IReadOnlyList<PermissionTarget> Targets { get; private set; } = [];

    public static IEnumerable<Opcode> Opcodes => Craq().Concat(Salus()).Select(request => request.Opcode);

    /// <param name="folder">Data and certificates of the nodes.</param>
    /// <param name="log">With a client's certificate.</param>
    /// <param name="authority">The folder of the log's authority.</param>
    public static async Task<SecureStores> StartAsync(
        string folder, string log, string authority, CancellationToken stop)
    {
        var craq = await EmbeddedCraq.StartAsync(log, new EmbeddedCraqOptions
        {
            Folder = Path.Combine(folder, "craq"),
            Datacenters = [(CraqNodeSettings.DefaultDatacenter, 1)],
            Authority = authority,
        }, stop);
        var salus = await EmbeddedSalus.StartAsync(log, new EmbeddedSalusOptions
        {
            Folder = Path.Combine(folder, "salus"),
            Nodes = 1,
            Authority = authority,
        }, stop);
        var stores = new SecureStores(craq, salus);
        await using var client = await CorfuClient.ConnectAsync(log, cancellationToken: stop);
        await using var admin = await CraqAdmin.OpenAsync(client, stop);
        var chains = (await admin.ReadAsync(stop)).Nodes.Single();
        await using var volumes = await global::Salus.SalusLog.ConnectAsync(log, cancellationToken: stop);
        var node = (await volumes.Admin.NodesAsync(stop)).Stores.Values.Single();
        stores.Targets =
        [
            new("a node of CRAQ", new NodeAddress(chains.Id, chains.Endpoint), [.. Craq()]),
            new("a region server", node.RegionAddress, [.. Salus().Where(request => !IsOfStore(request))]),
            new("a block store", node.StoreAddress, [.. Salus().Where(IsOfStore)]),
        ];
        return stores;
    }

    public async ValueTask DisposeAsync()
    {
        await _salus.DisposeAsync();
        await _craq.DisposeAsync();
    }

    private static bool IsOfStore(Request request) => request.Opcode >= SalusOpcode.Seal;

    private static IEnumerable<Request> Craq() =>
        CraqSamples.All().Select(sample => sample.Request).DistinctBy(request => request.Opcode);

    private static IEnumerable<Request> Salus() =>
        SalusSamples.All().Select(sample => sample.Request).DistinctBy(request => request.Opcode);
}

/// <param name="Name">As a difference calls it.</param>
internal sealed record PermissionTarget(string Name, NodeAddress Address, IReadOnlyList<Request> Requests);
