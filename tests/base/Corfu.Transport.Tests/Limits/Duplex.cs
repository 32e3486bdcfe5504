using System.IO.Pipelines;

namespace Corfu.Transport.Tests.Limits;

/// <summary>A transport that nothing moves over.</summary>
internal sealed class Duplex : IDuplexPipe
{
    public PipeReader Input { get; } = new Pipe().Reader;

    public PipeWriter Output { get; } = new Pipe().Writer;
}
