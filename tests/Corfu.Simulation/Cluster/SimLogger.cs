using Corfu.Simulation.Kernel;
using Microsoft.Extensions.Logging;

namespace Corfu.Simulation.Cluster;

/// <summary>Logger that writes the product's messages to the trace.</summary>
internal sealed class SimLogger(World world, string name) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => world.Trace is not null;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        if (world.Trace is not null) world.Explain($"{name} logs: {formatter(state, exception)} {exception?.Message}");
    }
}
