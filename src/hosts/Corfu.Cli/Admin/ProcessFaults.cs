using System.Globalization;
using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>The faults that the processes of a cluster report of their connections and certificates, as reasons of a
/// verdict that is not quite well.</summary>
internal static class ProcessFaults
{
    /// <summary>Processes that do not answer have their reasons elsewhere.</summary>
    public static async Task<ImmutableArray<string>> AskAsync(AdminSession session,
        ImmutableArray<AgentAnswer> agents, CancellationToken cancellationToken)
    {
        var faults = await Task.WhenAll(agents.Select(async agent =>
        {
            try
            {
                var answer = await session.Transport.CallAsync(agent.Agent, new ProcessInfoRequest(Epoch.None),
                    cancellationToken);
                return answer.Process is { } process ? Of(process, TimeProvider.System.GetUtcNow()) : [];
            }
            catch (CorfuException)
            {
                return [];
            }
        }));
        return [.. faults.SelectMany(static fault => fault).Distinct()];
    }

    /// <summary>A certificate is to be renewed in its last third.</summary>
    public static ImmutableArray<string> Of(ProcessReport process, DateTimeOffset now)
    {
        var faults = ImmutableArray.CreateBuilder<string>();
        if (process.Tls == TlsMode.Both) faults.Add($"{process.Name} accepts connections without TLS");
        foreach (var certificate in process.Certificates.Where(one => !one.IsAnchor))
        {
            var last = (certificate.NotAfter - certificate.NotBefore) / 3;
            var end = certificate.NotAfter.UtcDateTime.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);
            if (certificate.NotAfter < now)
                faults.Add($"the certificate of {process.Name} ended at {end}: run 'corfu cert renew'");
            else if (certificate.NotAfter - now < last)
                faults.Add($"the certificate of {process.Name} ends at {end}: run 'corfu cert renew'");
        }

        return faults.DrainToImmutable();
    }
}
