namespace Corfu.Peers;

/// <summary>Synchronizing system calls of all server processes while operations ran.</summary>
internal sealed record SyncCount(long Calls, long Operations)
{
    public double PerOperation => (double)Calls / Operations;
}
