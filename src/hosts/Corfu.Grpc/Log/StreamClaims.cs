using Corfu.Extensions;
using Microsoft.Extensions.DependencyInjection;

namespace Corfu.Grpc;

/// <summary>Declares raw streams in the log's directory, so that the log's own trims keep the entries that they need.
/// The host's runtime is made at the first claim.</summary>
internal sealed class StreamClaims(IServiceProvider services)
{
    public async Task DeclareAsync(
        StreamId stream, string? name, LogPosition from, CancellationToken cancellationToken)
    {
        var runtime = await services.GetRequiredService<ITangoHost>().GetRuntimeAsync(cancellationToken);
        await runtime.Log.DeclareStreamAsync(stream, name, from, cancellationToken);
    }
}
