using System.Diagnostics;

namespace Corfu.Load;

/// <summary>A process with one bare role, from the outside.</summary>
internal sealed class BareRoleProcess : IDisposable
{
    private readonly Process _process;

    private BareRoleProcess(Process process) => _process = process;

    public static BareRoleProcess Start(string kind) => new(ChildProcess.Start(BareRoleCommand.Name, kind));

    /// <param name="connect">The cluster of a front end; null: a bare echo.</param>
    public static BareRoleProcess StartGrpc(string? connect) => new(
        connect is null
            ? ChildProcess.Start(GrpcServerCommand.Name)
            : ChildProcess.Start(GrpcServerCommand.Name, connect));

    /// <param name="connect">The cluster of a front end; null: puts without a store.</param>
    public static BareRoleProcess StartEtcd(string? connect) => new(
        connect is null
            ? ChildProcess.Start(EtcdServerCommand.Name)
            : ChildProcess.Start(EtcdServerCommand.Name, connect));

    public int Id => _process.Id;

    public async Task<string> AddressAsync() =>
        await _process.StandardOutput.ReadLineAsync()
        ?? throw new IOException("The process of the bare role has died.");

    public void Dispose() => ChildProcess.Stop(_process);
}
