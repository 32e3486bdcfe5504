using Corfu.Extensions;
using Corfu.Orleans.Clustering;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.Hosting;
using Orleans.Messaging;
using Orleans.Serialization;
using Orleans.Storage;
using Tango;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Support;

/// <summary>The providers as one silo has them, over a log in memory that several share. No silo runs.</summary>
internal sealed class TestSilo : ISiloBuilder, IAsyncDisposable
{
    private readonly TestProcess _process;
    private readonly ServiceProvider _provider;

    public TestSilo(TangoTestHost log, string clusterId = "cluster", string serviceId = "service",
        Action<CorfuGrainStorageOptions>? storage = null)
    {
        _process = log.Start();
        Services.AddLogging().AddSerializer();
        Services.AddSingleton<ITangoHost>(new TestTango(_process.Runtime));
        Services.AddSingleton<TimeProvider>(log.Time);
        Services.AddSingleton<IGrainStorageSerializer, OrleansGrainStorageSerializer>();
        Services.Configure<ClusterOptions>(options =>
        {
            options.ClusterId = clusterId;
            options.ServiceId = serviceId;
        });
        this.UseCorfuClustering().AddCorfuGrainStorage("states", storage).UseCorfuReminders()
            .UseCorfuGrainDirectory();
        _provider = Services.BuildServiceProvider();
    }

    public IServiceCollection Services { get; } = new ServiceCollection();

    public IConfiguration Configuration { get; } = new ConfigurationBuilder().Build();

    public TestConnection Connection => _process.Connection;

    public TangoRuntime Runtime => _process.Runtime;

    public IMembershipTable Membership => _provider.GetRequiredService<IMembershipTable>();

    public IGrainStorage Storage => _provider.GetRequiredKeyedService<IGrainStorage>("states");

    /// <summary>As a client in the silo's place has it.</summary>
    public IGatewayListProvider NewGateways(TimeSpan refreshPeriod) =>
        ActivatorUtilities.CreateInstance<CorfuGatewayListProvider>(
            _provider, Options.Create(new GatewayOptions { GatewayListRefreshPeriod = refreshPeriod }));

    public IReminderTable Reminders => _provider.GetRequiredService<IReminderTable>();

    public IGrainDirectory Directory =>
        _provider.GetRequiredKeyedService<IGrainDirectory>(GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY);

    public async ValueTask DisposeAsync()
    {
        await _provider.DisposeAsync();
        await _process.DisposeAsync();
    }

    private sealed class TestTango(TangoRuntime runtime) : ITangoHost
    {
        public Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default) =>
            Task.FromResult(runtime);
    }
}
