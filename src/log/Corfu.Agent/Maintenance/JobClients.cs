namespace Corfu.Agent;

/// <summary>Makes the clients and workers of background jobs. Each run has a client of its own, which ends with
/// it.</summary>
/// <param name="loops">Runs the work that a client's callers share.</param>
internal sealed class JobClients(ITransport transport, TimeProvider time, IEntropy entropy, ILogger logger,
    LoopContext loops)
{
    public ClusterClient Open(Projection projection) =>
        new(projection, transport, time, entropy, null, logger, loops);

    public Rebuilder NewRebuilder(ClusterClient client, RebuildOptions options) =>
        new(client, transport, time, logger, options);

    public Migrator NewMigrator(ClusterClient client, RebuildOptions options) => new(client, transport, time, options);

    public Scrubber NewScrubber(ClusterClient client, ScrubOptions options, ScrubProgress? resume) =>
        new(client, time, logger, options, resume);
}
