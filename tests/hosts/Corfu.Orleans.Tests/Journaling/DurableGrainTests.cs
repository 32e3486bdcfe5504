using System.Text.Json.Serialization.Metadata;
using Corfu.Hosting;
using Corfu.Orleans.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Hosting;
using Orleans.Journaling;
using Orleans.Journaling.Json;
using Orleans.Storage;
using Orleans.TestingHost;

namespace Corfu.Orleans.Tests.Journaling;

/// <summary>Durable grains on silos over a log of three units.</summary>
public sealed class DurableGrainTests : IAsyncLifetime
{
    private EmbeddedCluster _log = null!;

    public async ValueTask InitializeAsync() =>
        _log = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 3, Replicas = 2 });

    public async ValueTask DisposeAsync() => await _log.DisposeAsync();

    [Fact]
    public async Task State_of_a_grain_survives_deactivation_and_the_end_of_all_silos()
    {
        await using (InProcessTestCluster silos = await StartAsync(2))
        {
            var basket = silos.Client.GetGrain<IBasketGrain>("anna");
            await basket.PutAsync("tea", 2);
            await basket.PutAsync("milk", 1);
            Guid before = await basket.DeactivateAsync();
            await Eventually.IsTrueAsync(
                async () => await basket.ActivationAsync() != before, "the grain is activated anew");
            Assert.Equal(2, await basket.CountAsync("tea"));
            // More than a snapshot is asked for after: the journal is replaced meanwhile.
            for (int i = 0; i < 30; i++) await basket.PutAsync("milk", i);
        }

        await using InProcessTestCluster others = await StartAsync(1);
        var again = others.Client.GetGrain<IBasketGrain>("anna");
        Assert.Equal((2, 29), (await again.CountAsync("tea"), await again.CountAsync("milk")));
    }

    [Fact]
    public async Task Two_simultaneous_activations_write_once_and_the_loser_reads_anew()
    {
        // Two clusters of one service: neither knows of the other's activation.
        await using InProcessTestCluster left = await StartAsync(1);
        await using InProcessTestCluster right = await StartAsync(1);
        var (one, other) =
            (left.Client.GetGrain<IBasketGrain>("b"), right.Client.GetGrain<IBasketGrain>("b"));
        await one.PutAsync("tea", 1);
        Assert.Equal(1, await other.CountAsync("tea"));
        await one.PutAsync("tea", 2);
        Guid loser = await other.ActivationAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => other.PutAsync("milk", 1));
        // Orleans deactivates it, and until then may answer any call with the refusal.
        await Eventually.IsTrueAsync(() => IsReplacedAsync(other, loser), "the grain is activated anew");
        Assert.Equal((2, 0), (await other.CountAsync("tea"), await other.CountAsync("milk")));
    }

    private static async Task<bool> IsReplacedAsync(IBasketGrain grain, Guid activation)
    {
        try
        {
            return await grain.ActivationAsync() != activation;
        }
        catch (InconsistentStateException)
        {
            return false;
        }
    }

    private async Task<InProcessTestCluster> StartAsync(short silos)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.Options.ConfigureFileLogging = false;
        builder.Options.ServiceId = "baskets";
        builder.ConfigureSilo((_, silo) => silo
            .UseCorfu(_log.ConnectionString)
            .AddCorfuJournalStorage(options => options.CompactAfterWrites = 10)
            .Services.Configure<JsonJournalOptions>(
                options => options.AddTypeInfoResolver(new DefaultJsonTypeInfoResolver())));
        InProcessTestCluster cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }
}

[Alias("test.basket")]
internal interface IBasketGrain : IGrainWithStringKey
{
    [Alias("put")]
    Task PutAsync(string item, int count);

    [Alias("count")]
    Task<int> CountAsync(string item);

    [Alias("activation")]
    Task<Guid> ActivationAsync();

    /// <summary>Returns the activation that ends.</summary>
    [Alias("deactivate")]
    Task<Guid> DeactivateAsync();
}

internal sealed class BasketGrain([FromKeyedServices("items")] IDurableDictionary<string, int> items)
    : DurableGrain, IBasketGrain
{
    private readonly Guid _activation = Guid.NewGuid();

    public async Task PutAsync(string item, int count)
    {
        items[item] = count;
        await WriteStateAsync();
    }

    public Task<int> CountAsync(string item) => Task.FromResult(items.TryGetValue(item, out int count) ? count : 0);

    public Task<Guid> ActivationAsync() => Task.FromResult(_activation);

    public Task<Guid> DeactivateAsync()
    {
        DeactivateOnIdle();
        return Task.FromResult(_activation);
    }
}
