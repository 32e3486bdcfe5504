using Corfu.Load;

namespace Corfu.Peers;

/// <summary>A server process, and a client that ends first.</summary>
internal sealed class ServerTarget(ServerProcess server, IAsyncDisposable client, IReadOnlyList<Operation> operations)
    : IRunningTarget
{
    public IReadOnlyList<Operation> Operations => operations;

    public IReadOnlyList<int> ProcessIds => [server.Id];

    public string Log => server.Log;

    public async ValueTask DisposeAsync()
    {
        try
        {
            await client.DisposeAsync();
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    /// <summary>Ends the server if no client could be connected or prepared.</summary>
    public static async Task<IRunningTarget> StartAsync(ServerProcess server, Func<Task<IRunningTarget>> connect)
    {
        try
        {
            return await connect();
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }
}
