namespace LockServiceSample.Run;

/// <summary>The resource that the lock guards: refuses a token below the highest that it has taken.</summary>
/// <remarks>The lock alone cannot keep late holders out: a holder that was stopped does not know that its lease has
/// ended.</remarks>
internal sealed class Vault
{
    private long _highest;

    /// <summary>Writes that were taken, in their order.</summary>
    public List<long> Taken { get; } = [];

    public int Refused { get; private set; }

    /// <param name="token">The fencing token of the holder that writes.</param>
    /// <returns>Whether it was taken.</returns>
    public bool Write(long token)
    {
        if (token < _highest)
        {
            Refused++;
            return false;
        }

        _highest = token;
        Taken.Add(token);
        return true;
    }
}
