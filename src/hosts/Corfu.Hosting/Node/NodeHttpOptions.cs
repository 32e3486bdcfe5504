namespace Corfu.Hosting;

/// <summary>A node's HTTP endpoint for operators and collectors: <c>http</c> in its configuration file. A program
/// serves it that brings an <see cref="INodeExtension"/>, as <c>corfu node</c> does.</summary>
/// <param name="Listen"><c>address:port</c>, another one than the node's.</param>
public sealed record NodeHttpOptions(string Listen)
{
    /// <summary>The pages below <c>/health</c>.</summary>
    public const string Health = "health";

    /// <summary>The page <c>/metrics</c>.</summary>
    public const string Metrics = "metrics";

    /// <summary>Pages that need no client certificate, where the endpoint speaks HTTPS. Default:
    /// health.</summary>
    public IReadOnlyList<string>? Anonymous { get; init; }

    /// <summary>Whether the console is served at <c>/console</c>. Default false.</summary>
    public bool Console { get; init; }

    /// <summary>The folder that backups of the cluster are kept in, for the figures of their age. Default:
    /// none.</summary>
    public string? Backups { get; init; }

    internal IEnumerable<string> Faults()
    {
        foreach (var name in (Anonymous ?? []).Except([Health, Metrics]))
            yield return $"Http: '{name}' cannot be served anonymously; there are {Health} and {Metrics}.";
    }
}

/// <summary>The collector of a node's figures and traces: <c>telemetry</c> in its configuration file.</summary>
public sealed record NodeTelemetryOptions
{
    /// <summary>Address of a collector of the OpenTelemetry protocol, as <c>http://127.0.0.1:4317</c>. Default:
    /// none.</summary>
    public Uri? Otlp { get; init; }

    /// <summary>The part of traces that begin here and are recorded, 0 to 1. Default 0: none. A trace that a caller
    /// records goes on here in any case.</summary>
    public double Sample { get; init; }

    internal IEnumerable<string> Faults()
    {
        if (Otlp is { } otlp && (!otlp.IsAbsoluteUri || otlp.Scheme is not ("http" or "https")))
            yield return $"Telemetry: '{otlp}' is no http or https address of a collector.";
        if (!(Sample is >= 0 and <= 1))
            yield return "Telemetry: the sample is a part of all traces, between 0 and 1.";
    }
}
