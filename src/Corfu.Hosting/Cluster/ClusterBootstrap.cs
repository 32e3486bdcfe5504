using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>Brings a cluster whose nodes listen to the point where it serves.</summary>
internal static class ClusterBootstrap
{
    public static Task<Projection> RunAsync(ClusterManifest manifest, ILoggerFactory loggers, TimeProvider time, CancellationToken cancellationToken) =>
        throw new NotSupportedException($"{manifest} {loggers} {time} {cancellationToken}");
}
