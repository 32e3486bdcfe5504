namespace BankSample.Run;

/// <summary>Size of a run.</summary>
internal sealed record BankPlan(int Transfers, int Kills, int Accounts, int Clients, int Seed)
{
    public const int Replicas = 3;

    /// <summary>Transfers of one client.</summary>
    public int TransfersOf(int client) => (Transfers / Clients) + (client < Transfers % Clients ? 1 : 0);

    /// <summary>How many transfers have answers when the next replica is killed.</summary>
    /// <param name="killed">Replicas that were killed before.</param>
    public int NextKillAt(int killed) =>
        killed < Kills ? (int)((killed + 1L) * Transfers / (Kills + 1)) : int.MaxValue;
}
