using System.Globalization;
using System.Net;
using Corfu.OrleansSilo;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Hosting;

if (args is not [var connection, var cluster, var siloPort, var gatewayPort])
{
    Console.Error.WriteLine("usage: Corfu.OrleansSilo CONNECTION CLUSTER SILO-PORT GATEWAY-PORT");
    return 2;
}

var builder = Host.CreateApplicationBuilder();
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.UseOrleans(silo => silo
    .Configure<ClusterOptions>(options => (options.ClusterId, options.ServiceId) = (cluster, "tests"))
    .ConfigureEndpoints(IPAddress.Loopback, int.Parse(siloPort, CultureInfo.InvariantCulture),
        int.Parse(gatewayPort, CultureInfo.InvariantCulture))
    .UseCorfuClustering(connection)
    .AddCorfuGrainStorageAsDefault()
    .UseCorfuReminders()
    .UseCorfuGrainDirectory()
    .AddCorfuGrainDirectory(GrainDirectories.Corfu)
    .UseShortTimes());
using var host = builder.Build();
await host.StartAsync();
Console.WriteLine("ready");
await host.WaitForShutdownAsync();
return 0;
