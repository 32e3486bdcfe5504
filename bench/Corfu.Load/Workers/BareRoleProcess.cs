using System.Diagnostics;
using System.Globalization;

namespace Corfu.Load;

/// <summary>A process with one bare role, from the outside.</summary>
internal sealed class BareRoleProcess : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    private readonly Process _process;

    private BareRoleProcess(Process process) => _process = process;

    public static BareRoleProcess Start(string kind) => new(ChildProcess.Start(BareRoleCommand.Name, kind));

    /// <param name="connect">The cluster of a front end; null: a bare echo.</param>
    public static BareRoleProcess StartGrpc(string? connect) => new(
        connect is null
            ? ChildProcess.Start(GrpcServerCommand.Name)
            : ChildProcess.Start(GrpcServerCommand.Name, connect));

    /// <param name="connect">The cluster of a front end, or <see cref="EtcdServerCommand.Empty"/>.</param>
    public static BareRoleProcess StartEtcd(string connect) => new(
        ChildProcess.Start(EtcdServerCommand.Name, connect));

    public int Id => _process.Id;

    /// <exception cref="IOException">The process has died, or does not say where it listens.</exception>
    public async Task<string> AddressAsync(CancellationToken cancellationToken = default)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(s_patience);
        try
        {
            return await _process.StandardOutput.ReadLineAsync(patience.Token)
                ?? throw new IOException("The process of the bare role has died.");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new IOException(string.Create(CultureInfo.InvariantCulture,
                $"A process of this program did not say within {s_patience.TotalSeconds} s where it listens."));
        }
    }

    public void Dispose() => ChildProcess.Stop(_process);
}
