using FASTER.core;

namespace Corfu.Unit;

/// <summary>
/// FASTER's commit metadata, not kept: in fast-commit mode the commit record in the log is enough, and recovery goes by the records
/// themselves (R6). The default manager creates and deletes a file per commit and only logs its errors.
/// </summary>
internal sealed class NoFileCommitManager : ILogCommitManager
{
    public void Commit(long beginAddress, long untilAddress, byte[] commitMetadata, long commitNum, bool forceWriteMetadata)
    {
    }

    public byte[] GetCommitMetadata(long commitNum) => [];

    public IEnumerable<long> ListCommits() => [];

    public void RemoveCommit(long commitNum)
    {
    }

    public void RemoveAllCommits()
    {
    }

    public void OnRecovery(long commitNum)
    {
    }

    public void Dispose()
    {
    }
}
