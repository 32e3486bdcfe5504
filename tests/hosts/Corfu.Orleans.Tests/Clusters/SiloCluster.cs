using Corfu.Hosting;
using Corfu.OrleansSilo;
using Orleans.Hosting;
using Orleans.TestingHost;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Four silos of Orleans' test cluster, which keeps a membership of its own, over a log of three units and two
/// sequencers.</summary>
public sealed class SiloCluster : IAsyncLifetime
{
    public EmbeddedCluster Log { get; private set; } = null!;

    public InProcessTestCluster Silos { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Log = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Sequencers = 2 });
        var builder = new InProcessTestClusterBuilder(4);
        builder.Options.ConfigureFileLogging = false;
        builder.ConfigureSilo((_, silo) => silo
            .UseCorfu(Log.ConnectionString)
            .AddCorfuGrainStorageAsDefault()
            .UseCorfuReminders()
            .AddCorfuGrainDirectory(GrainDirectories.Corfu)
            .UseShortTimes());
        Silos = builder.Build();
        await Silos.DeployAsync();
    }

    /// <summary>Stops the sequencer that serves; an agent puts the other one in its place.</summary>
    /// <returns>The sequencer's name.</returns>
    public async Task<string> StopSequencerAsync()
    {
        await using var client = await Log.ConnectAsync();
        var serving = Log.Manifest.Nodes.Single(node => node.Endpoint == client.Projection.Sequencer.Endpoint);
        await Log.StopNodeAsync(serving.Name);
        return serving.Name;
    }

    public async ValueTask DisposeAsync()
    {
        await Silos.DisposeAsync();
        await Log.DisposeAsync();
    }
}
